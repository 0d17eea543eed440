import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopbackHost } from "./loopback.ts";

const EXPOSED_HEADERS = [
  "Eth-Consensus-Version",
  "Eth-Execution-Payload-Blinded",
  "Eth-Execution-Payload-Value",
  "Eth-Consensus-Block-Value",
  "ETag",
].join(", ");

const EXTENSION = /^[a-z-]+-extension:\/\//;

/** Origins whose pages may call the server, and the CORS headers for them. "*" allows all origins. */
export class AllowedOrigins {
  readonly #listed: ReadonlySet<string>;
  readonly #all: boolean;
  readonly #allowsLocalPages: boolean;

  constructor(
    allowed: readonly string[],
    { allowsLocalPages = false }: { allowsLocalPages?: boolean | undefined } = {},
  ) {
    this.#allowsLocalPages = allowsLocalPages;
    this.#listed = new Set(allowed);
    this.#all = this.#listed.has("*");
  }

  allows(origin: string): boolean {
    if (this.#all || this.isTrusted(origin)) return true;
    return this.#allowsLocalPages && (isLocalPage(origin) || isExtension(origin));
  }

  /**
   * Returns true if the origin is listed explicitly rather than only matched by "*". Pages on this machine are not
   * trusted, because any local program may serve a page, which could then control the node.
   */
  isTrusted(origin: string): boolean {
    return this.#listed.has(origin);
  }

  /** Sets the CORS headers on a response. */
  setHeaders({ headers: { origin } }: IncomingMessage, res: ServerResponse): void {
    if (this.#listed.size === 0 && !this.#allowsLocalPages) return;
    res.setHeader("Vary", "Origin");
    if (origin === undefined || !this.allows(origin)) return;
    res.setHeader("Access-Control-Allow-Origin", this.#all ? "*" : origin);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  }

  /** Sets the headers on a CORS preflight response (Fetch Standard, section 3.2.2). */
  setPreflightHeaders({ headers }: IncomingMessage, res: ServerResponse, verbs: string): void {
    if (headers.origin === undefined || !this.allows(headers.origin)) return;
    res.setHeader("Access-Control-Allow-Methods", verbs);
    const requested = headers["access-control-request-headers"];
    if (requested !== undefined) res.setHeader("Access-Control-Allow-Headers", requested);
    res.setHeader("Access-Control-Max-Age", "86400");
  }
}

/** Returns true if the page is served from this machine. */
function isLocalPage(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return (protocol === "http:" || protocol === "https:") && isLoopbackHost(hostname.replace(/^\[|\]$/g, ""));
}

function isExtension(origin: string): boolean {
  return EXTENSION.test(origin);
}
