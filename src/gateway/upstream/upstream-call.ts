import type { MethodDefinition } from "../../api/definition.ts";
import { Failure } from "../../errors/failure.ts";
import type { Format } from "../../server/http/response/negotiation.ts";
import type { Cancellation } from "../../server/method-table.ts";
import type { MethodPolicySettings } from "../settings.ts";

/** An HTTP request to an upstream, without credentials. */
export interface UpstreamRequest {
  readonly verb: "GET" | "POST";
  /** Path and query. */
  readonly url: string;
  /** By lowercase name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export const ACCEPT_JSON: UpstreamRequest["headers"] = Object.freeze({ accept: "application/json" });

/** A method call to an upstream, with the inputs of selection and caching. */
export interface UpstreamCall {
  readonly method: MethodDefinition;
  readonly request: UpstreamRequest;
  /** Path and query parameters by name, as strings. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The requested response format. */
  readonly format: Format;
  readonly cancellation: Cancellation;
  /** Upstreams known not to support the call. They are selected only if no other is available. */
  readonly deprioritized?: ReadonlySet<string>;
  /** Overrides of the gateway's settings for the method. */
  readonly policy?: MethodPolicySettings;
}

/** The response of an upstream with any status. */
export interface UpstreamResponse {
  readonly upstream: string;
  /** Set if the response came from a cache. */
  readonly cachedIn?: "memory" | "cache";
  readonly status: number;
  /** By lowercase name. */
  readonly headers: Readonly<Record<string, string>>;
  /** A buffer if small. A stream must be read to its end or ended by `return()`. Never compressed. */
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** First bytes of a streamed body, which the stream contains too. */
  readonly start?: Buffer | undefined;
}

interface UpstreamErrorOptions {
  mayHaveArrived: boolean;
  isInvalidResponse?: boolean;
  cause?: unknown;
}

/** An upstream did not respond, broke off, or sent an invalid response. The message names the upstream. */
export class UpstreamError extends Failure {
  readonly upstream: string;
  /** True if the upstream may have received the request, so that a submission must not be retried. */
  readonly mayHaveArrived: boolean;
  /** True if the upstream responded with something that no beacon node sends. */
  readonly isInvalidResponse: boolean;

  constructor(upstream: string, message: string, options: UpstreamErrorOptions) {
    super("unavailable", message, { cause: options.cause });
    this.name = "UpstreamError";
    this.upstream = upstream;
    this.mayHaveArrived = options.mayHaveArrived;
    this.isInvalidResponse = options.isInvalidResponse ?? false;
  }
}
