import type { ForkPostBellatrix } from "@lodestar/params";
import type { ExecutionPayload } from "@lodestar/types";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import type {
  BuiltPayload,
  EngineClientVersion,
  EngineState,
  ExecutionEngine,
  ForkchoiceState,
  ForkchoiceUpdate,
  PayloadContext,
  PayloadId,
  PayloadRequest,
  PayloadVerdict,
} from "../../../src/execution/engine.ts";

/** Behaves like the dev engine unless overridden, and records build requests. */
export class BuildingEngine implements ExecutionEngine {
  state: EngineState = "synced";
  clientVersion: EngineClientVersion | null = null;
  /** Verdict on heads without a payload request. */
  headVerdict: PayloadVerdict = { status: "valid" };
  /** Build requests with their payload ids, in order. */
  readonly begun: { request: PayloadRequest; id: PayloadId | null }[] = [];
  /** Ids passed to getPayload, in order. */
  readonly taken: PayloadId[] = [];
  /** Overrides for the next build requests. */
  readonly updates: (() => Promise<ForkchoiceUpdate>)[] = [];
  /** Overrides for the next getPayload calls, derived from the honest payload. */
  readonly payloads: ((honest: BuiltPayload) => Promise<BuiltPayload>)[] = [];
  readonly #listeners = new Set<(state: EngineState) => void>();
  readonly #honest = new DevExecutionEngine();

  /** Sets the state and notifies listeners. */
  enter(state: EngineState): void {
    this.state = state;
    for (const listener of this.#listeners) listener(state);
  }

  onStateChange(listener: (state: EngineState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notifyNewPayload(fork: ForkPostBellatrix, payload: ExecutionPayload, context: PayloadContext) {
    return this.#honest.notifyNewPayload(fork, payload, context);
  }

  async forkchoiceUpdated(fork: ForkPostBellatrix, state: ForkchoiceState, request?: PayloadRequest) {
    if (!request) return { verdict: this.headVerdict, payloadId: null };
    const update = await (this.updates.shift()?.() ?? this.#honest.forkchoiceUpdated(fork, state, request));
    this.begun.push({ request, id: update.payloadId });
    return update;
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    this.taken.push(id);
    const honest = await this.#honest.getPayload(fork, id);
    return this.payloads.shift()?.(honest) ?? honest;
  }

  terminalBlock() {
    return this.#honest.terminalBlock();
  }

  judgeTerminalBlock(blockHash: string) {
    return this.#honest.judgeTerminalBlock(blockHash);
  }
}
