import type { BuiltPayload, PayloadRequest } from "../../execution/engine.ts";
import { isSameRequest } from "../../execution/payload-request.ts";

/** A payload that was built ahead, and the revision of the pool at that time. */
export interface AheadPayload {
  built: BuiltPayload;
  revision: number;
}

/** Payload of the next slot. The thread builds it while the chain imports the block before. */
export class AheadBuild {
  #begun: { request: PayloadRequest; building: Promise<AheadPayload | null> } | undefined;
  /** Shared with the thread, which counts the changes of the pool there. */
  #revision: Int32Array | undefined;

  /** Follows a new thread. */
  connect(revision: Int32Array): void {
    this.#revision = revision;
    this.drop();
  }

  begin(request: PayloadRequest, building: Promise<AheadPayload | null>): void {
    this.#begun = { request, building: building.catch(() => null) };
  }

  /** The chain was reverted or replaced. */
  drop(): void {
    this.#begun = undefined;
  }

  /** Returns the payload if it is that of the request, and the pool has not changed since. */
  async take(request: PayloadRequest): Promise<BuiltPayload | null> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined || !isSameRequest(begun.request, request)) return null;
    const ahead = await begun.building;
    const isCurrent = ahead !== null && this.#revision !== undefined && ahead.revision === this.#revision[0];
    return isCurrent ? ahead.built : null;
  }
}
