import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Whether only this machine can be at the other end of the address; IPv4 may be written as IPv6. */
export function isLoopbackAddress(address: string): boolean {
  // Most are this one, and it is asked for every request.
  if (address === "127.0.0.1") return true;
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** The names that mean this machine wherever they are looked up (RFC 6761, section 6.3), and loopback addresses. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(host);
}
