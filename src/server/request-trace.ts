import type { IncomingHttpHeaders } from "node:http";

/** A request's trace context (W3C Trace Context) and the time it has spent in caches and waiting for upstreams. */
export interface RequestTrace {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Time spent waiting for upstreams, summed over all calls. Undefined if no upstream was called. */
  upstreamMillis?: number;
  /** Time spent in caches and waiting for identical reads. */
  cacheMillis?: number;
}

/** Rejects version ff and ids that are all zeros. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const MAX_TRACESTATE_LENGTH = 512;

/** Reads a request's trace context. Invalid headers are dropped. */
export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): RequestTrace {
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return {};
  const hasState = typeof tracestate === "string" && tracestate.length <= MAX_TRACESTATE_LENGTH;
  return { traceparent, tracestate: hasState ? tracestate : undefined };
}
