import type { RootHex } from "@lodestar/types";
import type { EvmEngine } from "../engine/evm-engine.ts";

/** Calls of the engine with arguments and results that can be cloned. */
export class EngineService {
  readonly #engine: EvmEngine;
  /** Functions that go back to a snapshot, by its id. */
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

  getPayload(...args: Parameters<EvmEngine["getPayload"]>): ReturnType<EvmEngine["getPayload"]> {
    return this.#engine.getPayload(...args);
  }

  getBlobs(...args: Parameters<EvmEngine["getBlobs"]>): ReturnType<EvmEngine["getBlobs"]> {
    return this.#engine.getBlobs(...args);
  }

  restore(headBlockHash: RootHex): Promise<void> {
    return this.#engine.restore(headBlockHash);
  }

  /** Returns the hash of the transaction. */
  async addTransaction(sent: Uint8Array): Promise<Uint8Array> {
    return (await this.#engine.addTransaction(sent)).transaction.hash;
  }

  capture(snapshot: number): void {
    this.#snapshots.set(snapshot, this.#engine.capture());
  }

  /** Returns false if this thread does not have the snapshot. */
  revert(snapshot: number): boolean {
    const goBack = this.#snapshots.get(snapshot);
    goBack?.();
    return goBack !== undefined;
  }

  release(snapshots: readonly number[]): void {
    for (const id of snapshots) this.#snapshots.delete(id);
  }

  /** Resolves once everything is stored. */
  flush(): Promise<void> {
    return this.#engine.flush();
  }
}
