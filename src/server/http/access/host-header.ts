import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { HttpError } from "../http-error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, with an optional port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/;

/**
 * Returns the name or address in a Host header, without the port and in lower case. IPv6 addresses have no brackets.
 * Undefined if there is none.
 */
export function hostNameOf(header: string): string | undefined {
  const host = header.toLowerCase();
  // Some clients send an IPv6 address without brackets, always without a port.
  if (isIP(host) === 6) return host;
  const [, bracketed, name] = HOST.exec(host) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined;
  return name;
}

/**
 * Returns the Host header of a request; undefined for HTTP/1.0 without one. Throws for requests that a proxy might
 * route differently: two Host headers, an empty or malformed one, or a URL with another authority.
 */
export function hostHeaderOf({ headers: { host }, rawHeaders, url = "" }: IncomingMessage): string | undefined {
  if (host === undefined && isOriginForm(url)) return undefined;
  if (countHeader(rawHeaders, "host") > 1) throw new HttpError(400, "The request has more than one Host header.");
  if (host === undefined || hostNameOf(host) === undefined) {
    throw new HttpError(400, "The Host header is missing or invalid.");
  }
  if (!isOriginForm(url) && !isSameAuthority(url, host)) {
    throw new HttpError(400, "The URL and the Host header name different hosts.");
  }
  return host;
}

/** Counts the occurrences of a header. For singleton headers, Node's parsed headers contain only the first. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]!;
    if (header.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}

/** Returns true if origin and Host header name the same host and port. */
export function isSameAuthority(origin: string, header: string): boolean {
  const page = URL.parse(origin);
  const server = page && URL.parse(`${page.protocol}//${header}`);
  return page !== null && page.host !== "" && page.host === server?.host;
}

/** Returns true if the request target is a path or `*`, without an authority. */
function isOriginForm(url: string): boolean {
  return url.startsWith("/") || url === "*";
}
