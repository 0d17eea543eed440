import type { IncomingMessage, ServerResponse } from "node:http";

const EXPOSED = [
  "Eth-Consensus-Version",
  "Eth-Execution-Payload-Blinded",
  "Eth-Execution-Payload-Value",
  "Eth-Consensus-Block-Value",
  "ETag",
].join(", ");

/** The origins whose pages may use a server from a browser, and what browsers are told about it; "*" stands for all. */
export class AllowedOrigins {
  readonly #named: ReadonlySet<string>;
  readonly #all: boolean;

  constructor(allowed: readonly string[]) {
    this.#named = new Set(allowed);
    this.#all = this.#named.has("*");
  }

  allows(origin: string): boolean {
    return this.#all || this.#named.has(origin);
  }

  /** Whether the origin is allowed by its name, not as one of all. */
  names(origin: string): boolean {
    return this.#named.has(origin);
  }

  /** Says on the response that its page may read it. */
  setHeaders({ headers: { origin } }: IncomingMessage, res: ServerResponse): void {
    if (this.#named.size === 0) return;
    res.setHeader("Vary", "Origin");
    if (origin === undefined || !this.allows(origin)) return;
    res.setHeader("Access-Control-Allow-Origin", this.#all ? "*" : origin);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
  }

  /** What a browser asks before it lets a page send the request itself (Fetch standard, CORS-preflight request). */
  setPreflightHeaders({ headers }: IncomingMessage, res: ServerResponse, verbs: string): void {
    if (headers.origin === undefined || !this.allows(headers.origin)) return;
    res.setHeader("Access-Control-Allow-Methods", verbs);
    const wanted = headers["access-control-request-headers"];
    if (wanted !== undefined) res.setHeader("Access-Control-Allow-Headers", wanted);
    res.setHeader("Access-Control-Max-Age", "86400");
  }
}
