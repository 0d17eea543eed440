import { setTimeout as sleep } from "node:timers/promises";
import { type Call, isOf, type Outcome } from "./call-log.ts";
import { lineage } from "./evm.ts";
import type { ExecutionChain } from "./execution-chain.ts";
import { type ExecutionPayload, type ForkchoiceState, type Hex, type PayloadStatus, ZERO_HASH } from "./wire.ts";

interface FaultyCall {
  call: Call;
  chain: ExecutionChain;
  /** Handles the call normally. */
  proceed: () => Promise<Outcome>;
}

/** Replaces the outcome of a call. */
export type Fault = (faulty: FaultyCall) => Outcome | Promise<Outcome>;

interface FaultOptions {
  /** Number of affected calls. Default: all until the fault is removed. */
  times?: number;
}

/** Injected faults of calls. */
export class Faults {
  readonly #faults: { method: string; fault: Fault; left: number }[] = [];

  /**
   * Injects a fault into calls of a method. A name without version matches all versions, "*" all methods. Earlier
   * faults take precedence. Returns a function that removes the fault.
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

  /** Returns the fault for this call, and counts its use. */
  take(call: Call): Fault | undefined {
    const struck = this.#faults.find(({ method, left }) => left > 0 && (method === "*" || isOf(method, call)));
    if (!struck) return undefined;
    struck.left--;
    return struck.fault;
  }
}

/** Responds with any result, such as one of a wrong shape. */
export const answers =
  (result: unknown): Fault =>
  () => ({ kind: "result", result });

/** Changes the correct result, for example removes a field. */
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

/** Responds with a body that is not JSON. */
export const garbage: Fault = respondsWith(200, "<html>\0{]");

export const resets: Fault = () => ({ kind: "reset" });

/** Delays the correct response. */
export const slow =
  (ms: number): Fault =>
  async ({ proceed }) => {
    await sleep(ms);
    return proceed();
  };

interface Hold {
  fault: Fault;
  /** Handles all hanging calls normally, and later calls immediately. */
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

/** Formats a status as the result of newPayload or forkchoiceUpdated. */
function statusAnswer(call: Call, payloadStatus: PayloadStatus): Outcome {
  const isForkchoice = isOf("engine_forkchoiceUpdated", call);
  return { kind: "result", result: isForkchoice ? { payloadStatus, payloadId: null } : payloadStatus };
}

/** Responds without a verdict, but executes the payload like a syncing client. */
const undecided =
  (status: "SYNCING" | "ACCEPTED"): Fault =>
  async ({ call, proceed }) => {
    await proceed();
    return statusAnswer(call, { status, latestValidHash: null, validationError: null });
  };

export const syncing = undecided("SYNCING");
/** Only for newPayload. */
export const accepted = undecided("ACCEPTED");

/** Reported latest valid block: distance to an ancestor (1 is the parent), null, or the zero hash. */
type LatestValid = number | "null" | "zero";

/** Reports the payload as invalid once. `ExecutionChain.condemn` makes a block permanently invalid. */
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
