import type { RootHex } from "@lodestar/types";
import type { BuiltPayload, PayloadRequest, PayloadVerdict } from "../../execution/engine.ts";
import type { EvmEngine } from "../engine/evm-engine.ts";
import type { AheadPayload } from "./ahead-build.ts";

interface PayloadBuild {
  verdict: PayloadVerdict;
  built: BuiltPayload | null;
  /** Revision of the pool, if the payload includes all of its transactions. */
  emptiesPoolAt?: number;
}

/**
 * Exposes the engine in the EVM worker thread; `EvmThread` calls it from the main thread. Arguments and results are
 * structured-cloneable.
 */
export class EngineService {
  readonly #engine: EvmEngine;
  /** Functions that revert to a snapshot, by snapshot id. */
  readonly #snapshots = new Map<number, () => void>();

  constructor(engine: EvmEngine) {
    this.#engine = engine;
  }

  notifyNewPayload(...args: Parameters<EvmEngine["notifyNewPayload"]>): ReturnType<EvmEngine["notifyNewPayload"]> {
    return this.#engine.notifyNewPayload(...args);
  }

  forkchoiceUpdated(...args: Parameters<EvmEngine["forkchoiceUpdated"]>): ReturnType<EvmEngine["forkchoiceUpdated"]> {
    return this.#engine.forkchoiceUpdated(...args);
  }

  /** Sets the head to a block that this engine is known to have. */
  async setHead(...[fork, state]: Parameters<EvmEngine["forkchoiceUpdated"]>): Promise<void> {
    await this.#engine.forkchoiceUpdated(fork, state);
  }

  /** Sets the head and builds a payload on top of it. Returns no payload if the head is unknown. */
  async buildPayload(...args: Required<Parameters<EvmEngine["forkchoiceUpdated"]>>): Promise<PayloadBuild> {
    const { verdict, payloadId } = await this.#engine.forkchoiceUpdated(...args);
    if (payloadId === null) return { verdict, built: null };
    const revision = Atomics.load(this.#engine.revision, 0);
    const built = await this.#engine.getPayload(args[0], payloadId);
    const included = built.payload.transactions.length;
    return { verdict, built, ...(this.#engine.pool.size === included && { emptiesPoolAt: revision }) };
  }

  /** Builds a payload on top of a block that is about to become the head. Returns null if the pool is not empty. */
  async buildAhead(request: PayloadRequest): Promise<AheadPayload | null> {
    const revision = Atomics.load(this.#engine.revision, 0);
    const built = await this.#engine.buildEmpty(request);
    return built && { built, revision };
  }

  getBlobs(...args: Parameters<EvmEngine["getBlobs"]>): ReturnType<EvmEngine["getBlobs"]> {
    return this.#engine.getBlobs(...args);
  }

  detach(): Promise<void> {
    return this.#engine.detach();
  }

  restore(headBlockHash: RootHex): Promise<void> {
    return this.#engine.restore(headBlockHash);
  }

  /** Adds a raw transaction to the pool. Returns its hash. */
  async addTransaction(sent: Uint8Array): Promise<Uint8Array> {
    return (await this.#engine.addTransaction(sent)).transaction.hash;
  }

  /** Takes a snapshot under an id chosen by the caller. */
  capture(snapshot: number): void {
    this.#snapshots.set(snapshot, this.#engine.capture());
  }

  /** Reverts to a snapshot. Returns false if this thread does not have it, for example after a restart. */
  revert(snapshot: number): boolean {
    const revertTo = this.#snapshots.get(snapshot);
    revertTo?.();
    return revertTo !== undefined;
  }

  /** Drops unneeded snapshots. */
  release(snapshots: readonly number[]): void {
    for (const id of snapshots) this.#snapshots.delete(id);
  }

  /** Resolves once the states and transactions of finalized blocks are stored. */
  flush(): Promise<void> {
    return this.#engine.flush();
  }
}
