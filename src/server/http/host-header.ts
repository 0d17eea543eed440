import { isIP } from "node:net";

/** The name or address that a Host header names, without the port: in lower case, IPv6 without its brackets. */
export function hostNameOf(header: string): string {
  const host = header.toLowerCase();
  if (host.startsWith("[")) return host.slice(1, host.indexOf("]"));
  const colon = host.lastIndexOf(":");
  // Some write an IPv6 address without brackets, and then there is no port.
  return colon === -1 || isIP(host) !== 0 ? host : host.slice(0, colon);
}

/** Whether a page of the origin was loaded from the host that its request is sent to. */
export function isSameAuthority(origin: string, header: string): boolean {
  const page = URL.parse(origin);
  const server = page && URL.parse(`${page.protocol}//${header}`);
  return page !== null && page.host !== "" && page.host === server?.host;
}
