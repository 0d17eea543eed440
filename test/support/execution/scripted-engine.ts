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

/** "error": the engine fails to answer. "never": it keeps its caller waiting. */
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
  /** Of all payloads that have no answer of their own. */
  otherwise: ScriptedAnswer = VALID;
  terminalVerdict: TerminalBlockVerdict = "terminal";
  /** In the order in which they were asked. */
  questions: Question[] = [];
  /** What a test has put into its pool, by versioned hash. */
  readonly blobs = new Map<RootHex, PooledBlob>();
  /** How often it was asked for blobs. */
  blobQuestions = 0;
  readonly #answers = new Map<RootHex, ScriptedAnswer>();
  readonly #listeners = new Set<(state: EngineState) => void>();
  #state: EngineState = "synced";

  get state(): EngineState {
    return this.#state;
  }

  /** Lets whoever listens know that the engine is there, as after a time in which it was not. */
  enter(state: EngineState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  answer(blockHash: RootHex, answer: ScriptedAnswer): void {
    this.#answers.set(blockHash, answer);
  }

  /** Which payloads it was asked about in that way, since that was last asked. */
  takeAsked(method: Question["method"]): RootHex[] {
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
