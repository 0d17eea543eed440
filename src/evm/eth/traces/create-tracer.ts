import { CallTracer } from "./call-tracer.ts";
import { FourByteTracer } from "./four-byte-tracer.ts";
import { PrestateTracer } from "./prestate-tracer.ts";
import { StructLogger } from "./struct-logger.ts";
import type { TraceOptions } from "./trace-options.ts";
import type { TraceSize } from "./trace-size.ts";
import type { Tracer } from "./tracer.ts";

const NOOP_TRACER: Tracer = { attach: () => () => {}, result: () => ({}) };

/** Creates a tracer for a transaction. */
export function createTracer(options: TraceOptions, gasLimit: bigint, size: TraceSize): Tracer {
  switch (options.tracer) {
    case "callTracer":
      return new CallTracer(gasLimit, options.tracerConfig);
    case "prestateTracer":
      return new PrestateTracer(options.tracerConfig);
    case "4byteTracer":
      return new FourByteTracer();
    case "noopTracer":
      return NOOP_TRACER;
    default:
      return new StructLogger(options, size);
  }
}
