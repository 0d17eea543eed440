import type { IncomingMessage, ServerResponse } from "node:http";

const EXPOSED = [
  "Eth-Consensus-Version",
  "Eth-Execution-Payload-Blinded",
  "Eth-Execution-Payload-Value",
  "Eth-Consensus-Block-Value",
  "ETag",
].join(", ");

/** The origins whose pages may use the server from a browser; "*" stands for all. */
export class CrossOriginPolicy {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed);
  }

  /** A request that no page sent has no origin. */
  allows(origin: string | undefined): boolean {
    return origin === undefined || this.#allowed.has("*") || this.#allowed.has(origin);
  }

  /** Says on the response that its page may read it. */
  setHeaders(req: IncomingMessage, res: ServerResponse): void {
    if (this.#allowed.size === 0) return;
    res.setHeader("Vary", "Origin");
    const { origin } = req.headers;
    if (origin === undefined || !this.allows(origin)) return;
    res.setHeader("Access-Control-Allow-Origin", this.#allowed.has("*") ? "*" : origin);
    res.setHeader("Access-Control-Expose-Headers", EXPOSED);
  }

  /** What a browser asks before it lets a page send the request itself (Fetch standard, CORS-preflight request). */
  setPreflightHeaders(req: IncomingMessage, res: ServerResponse, verbs: string): void {
    if (this.#allowed.size === 0 || !this.allows(req.headers.origin)) return;
    res.setHeader("Access-Control-Allow-Methods", verbs);
    const wanted = req.headers["access-control-request-headers"];
    if (wanted !== undefined) res.setHeader("Access-Control-Allow-Headers", wanted);
    res.setHeader("Access-Control-Max-Age", "86400");
  }
}
