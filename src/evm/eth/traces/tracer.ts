import type { EVMInterface } from "@ethereumjs/evm";
import type { WorldState } from "../../state/world-state.ts";
import type { CallFailure } from "../calls/call-failure.ts";

export type EvmEvents = NonNullable<EVMInterface["events"]>;

/** A transaction about to be executed. */
export interface TraceSubject {
  readonly state: WorldState;
  readonly sender: Uint8Array;
  /** Absent for contract creations. */
  readonly recipient?: Uint8Array | undefined;
  readonly feeRecipient: Uint8Array;
  /** Accounts that delegate their code through this transaction (EIP-7702). */
  readonly authorities: readonly Uint8Array[];
  /** Addresses in hex, without the 0x prefix. */
  readonly precompiles: Pick<ReadonlySet<string>, "has">;
}

/** Outcome of a traced transaction. */
export interface TracedOutcome {
  readonly gasUsed: bigint;
  readonly returnData: Uint8Array;
  readonly failure: CallFailure | undefined;
}

/** Records the execution of one transaction. */
export interface Tracer {
  /** Starts recording. Returns a function that stops recording. */
  attach(events: EvmEvents, subject: TraceSubject): () => void;
  /** Returns the trace as JSON. Called before the state changes again. */
  result(outcome: TracedOutcome): unknown;
}
