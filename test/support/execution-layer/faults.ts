import { setTimeout as sleep } from "node:timers/promises";
import { type Call, isOf, type Outcome } from "./call-log.ts";
import { lineage } from "./evm.ts";
import type { ExecutionChain } from "./execution-chain.ts";
import { type ExecutionPayload, type ForkchoiceState, type Hex, type PayloadStatus, ZERO_HASH } from "./wire.ts";

export interface FaultyCall {
  call: Call;
  chain: ExecutionChain;
  /** What the call is rightly answered with, and all that comes of it. */
  proceed: () => Promise<Outcome>;
}

/** Answers a call in place of the execution layer. */
export type Fault = (faulty: FaultyCall) => Outcome | Promise<Outcome>;

export interface FaultOptions {
  /** How many calls it strikes; without it all, until it is lifted. */
  times?: number;
}

/** Injected faults of calls. */
export class Faults {
  readonly #faults: { method: string; fault: Fault; left: number }[] = [];

  /**
   * Has the calls of a method go wrong, of any version when the name has none, or of all methods: "*". What was set
   * first strikes first. Returns the function that lifts it.
   */
  set(method: string, fault: Fault, { times = Number.POSITIVE_INFINITY }: FaultOptions = {}): () => void {
    const entry = { method, fault, left: times };
    this.#faults.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  clear(): void {
    this.#faults.length = 0;
  }

  /** The fault that strikes this call, which counts. */
  take(call: Call): Fault | undefined {
    const struck = this.#faults.find(({ method, left }) => left > 0 && (method === "*" || isOf(method, call)));
    if (!struck) return undefined;
    struck.left--;
    return struck.fault;
  }
}

/** Any result, such as one of a wrong shape. */
export const answers =
  (result: unknown): Fault =>
  () => ({ kind: "result", result });

/** The right result with something changed, such as a field left out. */
export const changes =
  (change: (result: unknown) => unknown): Fault =>
  async ({ proceed }) => {
    const outcome = await proceed();
    return outcome.kind === "result" ? { kind: "result", result: change(outcome.result) } : outcome;
  };

export const fails =
  (code: number, message: string): Fault =>
  () => ({ kind: "error", code, message });

export const respondsWith =
  (status: number, body = ""): Fault =>
  () => ({ kind: "http", status, body });

/** A body that is not JSON. */
export const garbage: Fault = respondsWith(200, "<html>\0{]");

export const resets: Fault = () => ({ kind: "reset" });

/** The right answer, but late. */
export const slow =
  (ms: number): Fault =>
  async ({ proceed }) => {
    await sleep(ms);
    return proceed();
  };

export interface Hold {
  fault: Fault;
  /** Has all calls that hang be answered as they should be, and those that follow at once. */
  release: () => void;
}

/** Calls hang until released. */
export function hold(): Hold {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const fault: Fault = async ({ proceed }) => {
    await released;
    return proceed();
  };
  return { fault, release };
}

/** A status in the shape of the method that was called, newPayload or forkchoiceUpdated. */
function statusAnswer(call: Call, payloadStatus: PayloadStatus): Outcome {
  const isForkchoice = isOf("engine_forkchoiceUpdated", call);
  return { kind: "result", result: isForkchoice ? { payloadStatus, payloadId: null } : payloadStatus };
}

/** An answer without a verdict. The payload is executed all the same, as by one that syncs from its peers meanwhile. */
const undecided =
  (status: "SYNCING" | "ACCEPTED"): Fault =>
  async ({ call, proceed }) => {
    await proceed();
    return statusAnswer(call, { status, latestValidHash: null, validationError: null });
  };

export const syncing = undecided("SYNCING");
/** For newPayload alone. */
export const accepted = undecided("ACCEPTED");

/** What is told to be the latest valid block: an ancestor, 1 being the parent, or none, as null or as the zero hash. */
export type LatestValid = number | "null" | "zero";

/** The payload is told to be invalid, once; to have a block invalid for good there is `ExecutionChain.condemn`. */
export const invalid =
  (latestValid: LatestValid = 1): Fault =>
  ({ call, chain }) =>
    statusAnswer(call, {
      status: "INVALID",
      latestValidHash: latestValidHashOf(call, chain, latestValid),
      validationError: "The test has this payload be invalid.",
    });

function latestValidHashOf({ method, params }: Call, chain: ExecutionChain, latestValid: LatestValid): Hex | null {
  if (latestValid === "null") return null;
  if (latestValid === "zero") return ZERO_HASH;
  const isForkchoice = isOf("engine_forkchoiceUpdated", { method });
  const parentHash = isForkchoice
    ? chain.block((params[0] as ForkchoiceState).headBlockHash)?.parent?.hash
    : (params[0] as ExecutionPayload).parentHash;
  const ancestor = parentHash && lineage(chain.block(parentHash))[latestValid - 1];
  if (!ancestor) throw new Error(`The payload of ${method} has no known ancestor ${latestValid}.`);
  return ancestor.hash;
}
