import type { ForkPostBellatrix } from "@lodestar/params";
import type { ExecutionPayload } from "@lodestar/types";
import { DevExecutionEngine } from "./dev-engine.ts";
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
} from "./engine.ts";

/** Answers as the dev engine does unless a test has put another answer there, and remembers what it was asked to build. */
export class BuildingEngine implements ExecutionEngine {
  state: EngineState = "synced";
  clientVersion: EngineClientVersion | null = null;
  /** What it says of heads on which nothing is to be built. */
  headVerdict: PayloadVerdict = { status: "valid" };
  /** What was to be built, with the id that was given for it, in order. */
  readonly begun: { request: PayloadRequest; id: PayloadId | null }[] = [];
  /** The ids for which a payload was asked for, in order. */
  readonly taken: PayloadId[] = [];
  /** The next answers to requests to build. */
  readonly updates: (() => Promise<ForkchoiceUpdate>)[] = [];
  /** The next answers to getPayload, made out of the honest one. */
  readonly payloads: ((honest: BuiltPayload) => Promise<BuiltPayload>)[] = [];
  readonly #listeners = new Set<(state: EngineState) => void>();
  readonly #honest = new DevExecutionEngine();

  /** Lets whoever listens know of the state, too. */
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
