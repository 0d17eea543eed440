import type { IncomingHttpHeaders } from "node:http";

/** Trace context of a request (W3C Trace Context), and where its time went. */
export interface RequestTrace {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Time until the responses of upstreams, summed over all calls. Undefined without upstream requests. */
  upstreamMillis?: number;
  /** Time in caches and waiting for identical reads. */
  cacheMillis?: number;
}

/** Version ff and ids of zeros are invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
const MAX_TRACESTATE_LENGTH = 512;

/** Reads the trace context of a request. Invalid headers are dropped. */
export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): RequestTrace {
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return {};
  const hasState = typeof tracestate === "string" && tracestate.length <= MAX_TRACESTATE_LENGTH;
  return { traceparent, tracestate: hasState ? tracestate : undefined };
}
