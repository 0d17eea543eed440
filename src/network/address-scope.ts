import { BlockList, isIP } from "node:net";
import type { Multiaddr } from "@multiformats/multiaddr";

/** Loopback, private, shared (RFC 6598), link-local, unspecified and multicast addresses. */
const NOT_GLOBAL = new BlockList();
for (const [prefix, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const) {
  NOT_GLOBAL.addSubnet(prefix, bits, "ipv4");
}
for (const [prefix, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  NOT_GLOBAL.addSubnet(prefix, bits, "ipv6");
}

/** Returns the IP address at the start of a multiaddr, or undefined for a DNS name. */
export function ipOf(address: Multiaddr): string | undefined {
  const value = address.getComponents()[0]?.value ?? "";
  return isIP(value) === 0 ? undefined : value;
}

/** Returns true for a globally routable IP address. Also recognizes IPv4-mapped IPv6 addresses. */
export function isGlobalAddress(ip: string): boolean {
  const version = isIP(ip);
  return version !== 0 && !NOT_GLOBAL.check(ip, version === 4 ? "ipv4" : "ipv6");
}
