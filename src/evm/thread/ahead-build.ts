import type { BuiltPayload, PayloadRequest } from "../../execution/engine.ts";
import { isSameRequest } from "../../execution/payload-request.ts";

/** A payload built ahead of time, with the pool revision it is based on. */
export interface AheadPayload {
  built: BuiltPayload;
  revision: number;
}

/** Payload for the next slot, which the thread builds while the chain imports the preceding block. */
export class AheadBuild {
  #begun: { request: PayloadRequest; building: Promise<AheadPayload | null> } | undefined;
  /** Shared memory in which the thread counts changes to the pool. */
  #revision: Int32Array | undefined;

  /** Connects to a new thread. */
  connect(revision: Int32Array): void {
    this.#revision = revision;
    this.drop();
  }

  /** Number of changes to the pool so far. */
  get revision(): number | undefined {
    return this.#revision && Atomics.load(this.#revision, 0);
  }

  begin(request: PayloadRequest, building: Promise<AheadPayload | null>): void {
    this.#begun = { request, building: building.catch(() => null) };
  }

  /** Drops the payload after the chain has been reverted or replaced. */
  drop(): void {
    this.#begun = undefined;
  }

  /** Returns the payload if it matches the request and the pool has not changed since. */
  async take(request: PayloadRequest): Promise<BuiltPayload | null> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined || !isSameRequest(begun.request, request)) return null;
    const ahead = await begun.building;
    const isCurrent = ahead !== null && ahead.revision === this.revision;
    return isCurrent ? ahead.built : null;
  }
}
