import { ASKS_FOR_JSON, type UpstreamRequest } from "../../exchange.ts";
import type { RequestBytes, Target } from "./connection.ts";

/** What may not be in a path with its query, in the name of a header, or in its value. */
const NOT_IN_URL = /[^\x21-\x7e\x80-\xff]/;
const NOT_IN_NAME = /[^\w!#$%&'*+.^`|~-]/;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Writes requests to one upstream in HTTP/1.1. */
export class RequestWriter {
  readonly #pathPrefix: string;
  /** The headers that all requests have, as they are written. */
  readonly #always: string;

  constructor({ host, pathname }: URL, authorization: string | undefined) {
    this.#pathPrefix = pathname.replace(/\/+$/, "");
    const headers = { host, "accept-encoding": "identity", ...(authorization !== undefined && { authorization }) };
    this.#always = written(headers);
  }

  /** Why it cannot be written; undefined when it can. */
  problemOf({ url, headers }: UpstreamRequest): string | undefined {
    return NOT_IN_URL.test(url) ? "its path has characters in it that may not be there" : problemOfHeaders(headers);
  }

  /** Only of a request that has no problem. */
  write({ verb, url, headers, body }: UpstreamRequest, connection: "keep-alive" | "close"): RequestBytes {
    const length = body === undefined && verb === "GET" ? "" : `content-length: ${body?.length ?? 0}\r\n`;
    const own = `connection: ${connection}\r\n${written(headers)}${length}`;
    return { head: `${verb} ${this.#pathPrefix}${url} HTTP/1.1\r\n${this.#always}${own}\r\n`, body };
  }
}

export function targetOf({ protocol, hostname, port }: URL): Target {
  const isSecure = protocol === "https:";
  // IPv6 addresses are in brackets.
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(port || (isSecure ? 443 : 80)), isSecure };
}

function problemOfHeaders(headers: UpstreamRequest["headers"]): string | undefined {
  if (headers === ASKS_FOR_JSON) return undefined;
  for (const name in headers) {
    if (NOT_IN_NAME.test(name) || name === "") return "a header has a name that none may have";
    if (NOT_IN_VALUE.test(headers[name]!)) return `the header ${name} has characters in it that may not be there`;
  }
  return undefined;
}

function written(headers: UpstreamRequest["headers"]): string {
  if (headers === ASKS_FOR_JSON) return WRITTEN_FOR_JSON;
  let text = "";
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return text;
}

const WRITTEN_FOR_JSON = written({ ...ASKS_FOR_JSON });
