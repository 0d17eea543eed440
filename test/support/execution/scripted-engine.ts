import { type ForkPostBellatrix, type ForkPostDeneb, isForkPostFulu } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import {
  type BuiltPayload,
  type EngineState,
  EngineUnavailableError,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  PayloadUnavailableError,
  type PayloadVerdict,
  type PooledBlob,
  type TerminalBlockVerdict,
} from "../../../src/execution/engine.ts";

/** "error": the call fails. "never": the call hangs. */
type ScriptedAnswer = PayloadVerdict | "error" | "never";

export const VALID: PayloadVerdict = { status: "valid" };
export const SYNCING: PayloadVerdict = { status: "optimistic" };
export const invalid = (latestValidHash: RootHex | null): PayloadVerdict => ({
  status: "invalid",
  latestValidHash,
  message: "The payload is refused.",
});

interface Question {
  method: "newPayload" | "forkchoiceUpdated";
  blockHash: RootHex;
}

/** A scripted execution engine: verdicts by payload hash; builds nothing. */
export class ScriptedEngine implements ExecutionEngine {
  readonly clientVersion = null;
  /** Answer for all other payloads. */
  otherwise: ScriptedAnswer = VALID;
  terminalVerdict: TerminalBlockVerdict = "terminal";
  /** Received calls in order. */
  questions: Question[] = [];
  /** Blobs in the engine's pool by versioned hash. */
  readonly blobs = new Map<RootHex, PooledBlob>();
  /** Number of blob requests. */
  blobQuestions = 0;
  readonly #answers = new Map<RootHex, ScriptedAnswer>();
  readonly #listeners = new Set<(state: EngineState) => void>();
  #state: EngineState = "synced";

  get state(): EngineState {
    return this.#state;
  }

  /** Notifies listeners of a new engine state, for example after an outage. */
  enter(state: EngineState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  answer(blockHash: RootHex, answer: ScriptedAnswer): void {
    this.#answers.set(blockHash, answer);
  }

  /** Returns the payloads of calls of this method since the last call. */
  takeHashes(method: Question["method"]): RootHex[] {
    const asked = this.questions.filter((question) => question.method === method);
    this.questions = this.questions.filter((question) => question.method !== method);
    return asked.map(({ blockHash }) => blockHash);
  }

  onStateChange(listener: (state: EngineState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notifyNewPayload(_fork: ForkPostBellatrix, { blockHash }: ExecutionPayload): Promise<PayloadVerdict> {
    return this.#verdict("newPayload", toRootHex(blockHash));
  }

  async forkchoiceUpdated(_fork: ForkPostBellatrix, { headBlockHash }: ForkchoiceState): Promise<ForkchoiceUpdate> {
    return { verdict: await this.#verdict("forkchoiceUpdated", headBlockHash), payloadId: null };
  }

  async getPayload(): Promise<BuiltPayload> {
    throw new PayloadUnavailableError("The scripted engine builds nothing.");
  }

  async getBlobs(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]> {
    this.blobQuestions++;
    if (this.otherwise === "error") throw new EngineUnavailableError("The execution engine does not answer.");
    const found = versionedHashes.map((hash) => this.blobs.get(toRootHex(hash)) ?? null);
    return isForkPostFulu(fork) && found.includes(null) ? found.map(() => null) : found;
  }

  async terminalBlock(): Promise<ParentPayload | null> {
    return null;
  }

  async judgeTerminalBlock(): Promise<TerminalBlockVerdict> {
    return this.terminalVerdict;
  }

  async #verdict(method: Question["method"], blockHash: RootHex): Promise<PayloadVerdict> {
    this.questions.push({ method, blockHash });
    const answer = this.#answers.get(blockHash) ?? this.otherwise;
    if (answer === "never") return new Promise(() => {});
    if (answer === "error") throw new EngineUnavailableError("The execution engine does not answer.");
    return answer;
  }
}
