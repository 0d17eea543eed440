import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { HttpError } from "../http-error.ts";

/** A name, an IPv4 address or an IPv6 address in brackets, optionally followed by a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/;

/**
 * Returns the name or address in a Host header in lower case, without the port and without the brackets of an IPv6
 * address. Undefined if the header contains neither.
 */
export function hostNameOf(header: string): string | undefined {
  const host = header.toLowerCase();
  // Some clients send an IPv6 address without brackets, but never with a port.
  if (isIP(host) === 6) return host;
  const [, bracketed, name] = HOST.exec(host) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined;
  return name;
}

/**
 * Returns a request's Host header, or undefined if an HTTP/1.0 request has none. Throws if a proxy might route the
 * request differently because it has two Host headers, an empty or malformed one, or a URL with a different authority.
 * A header that equals `known` is not checked for its form.
 */
export function hostHeaderOf(
  { headers: { host }, rawHeaders, url = "" }: IncomingMessage,
  known?: string,
): string | undefined {
  if (host === undefined && isOriginForm(url)) return undefined;
  if (countHeader(rawHeaders, "host") > 1) throw new HttpError(400, "The request has more than one Host header.");
  if (host === undefined || (host !== known && hostNameOf(host) === undefined)) {
    throw new HttpError(400, "The Host header is missing or invalid.");
  }
  if (!isOriginForm(url) && !isSameAuthority(url, host)) {
    throw new HttpError(400, "The URL and the Host header name different hosts.");
  }
  return host;
}

/** Counts how often a header occurs. Node's parsed headers keep only the first occurrence of a singleton header. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]!;
    if (header.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}

/** Returns true if the origin and the Host header refer to the same host and port. */
export function isSameAuthority(origin: string, header: string): boolean {
  const page = URL.parse(origin);
  const server = page && URL.parse(`${page.protocol}//${header}`);
  return page !== null && page.host !== "" && page.host === server?.host;
}

/** Returns true if the request target has no authority, which means that it is a path or `*`. */
function isOriginForm(url: string): boolean {
  return url.startsWith("/") || url === "*";
}
