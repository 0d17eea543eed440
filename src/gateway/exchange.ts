import type { Method } from "../api/definition.ts";
import { Failure } from "../errors/failure.ts";
import type { Format } from "../server/http/negotiation.ts";
import type { Waiting } from "../server/method-table.ts";

/** A request as an upstream gets it, but for its credentials. */
export interface UpstreamRequest {
  readonly verb: "GET" | "POST";
  /** Path and query. */
  readonly url: string;
  /** By lower case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** What most requests say of themselves. */
export const ASKS_FOR_JSON: UpstreamRequest["headers"] = Object.freeze({ accept: "application/json" });

/** A call of a method on its way to an upstream, with all by which it is decided whom to ask and how long the answer stays true. */
export interface Question {
  readonly method: Method;
  readonly request: UpstreamRequest;
  /** What stands in the path and in the query, by the names of the parameters, as texts. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The form that the answer is asked for in. */
  readonly format: Format;
  readonly waiting: Waiting;
  /** The names of upstreams that are known not to have what is asked for, so that others are asked as long as there are any. */
  readonly lacking?: ReadonlySet<string>;
}

/** What an upstream answered, whatever its status. */
export interface UpstreamResponse {
  /** The name of the upstream that gave it. */
  readonly upstream: string;
  /** Where it was kept, when no upstream was asked for it now. */
  readonly kept?: "memory" | "cache";
  readonly status: number;
  /** By lower case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole when it is small; else read once, by somebody who calls `return()` when it stops early. Never compressed. */
  readonly body: Buffer | AsyncIterable<Buffer>;
}

interface UpstreamErrorOptions {
  mayHaveArrived: boolean;
  isOfAnswer?: boolean;
  cause?: unknown;
}

/** An upstream gave no answer, or none to its end, or none that can be used. The message names it. */
export class UpstreamError extends Failure {
  readonly upstream: string;
  /** Whether it may have received the request, so that what changes something must not be sent again. */
  readonly mayHaveArrived: boolean;
  /** Whether it did answer, with something that no node answers there. */
  readonly isOfAnswer: boolean;

  constructor(upstream: string, message: string, options: UpstreamErrorOptions) {
    super("unavailable", message, { cause: options.cause });
    this.name = "UpstreamError";
    this.upstream = upstream;
    this.mayHaveArrived = options.mayHaveArrived;
    this.isOfAnswer = options.isOfAnswer ?? false;
  }
}
