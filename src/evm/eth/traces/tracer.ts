import type { EVMInterface } from "@ethereumjs/evm";
import type { CallFailure } from "../calls/call-failure.ts";

export type EvmEvents = NonNullable<EVMInterface["events"]>;

/** How a traced transaction ended. */
export interface TracedOutcome {
  readonly gasUsed: bigint;
  readonly returnData: Uint8Array;
  readonly failure: CallFailure | undefined;
}

/** Records the execution of one transaction. */
export interface Tracer {
  /** Starts to record. Returns the function that stops it. */
  attach(events: EvmEvents): () => void;
  /** Returns the trace as JSON. */
  result(outcome: TracedOutcome): unknown;
}
