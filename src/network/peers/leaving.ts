import { peerIdFromString } from "@libp2p/peer-id";
import type { Host } from "../libp2p/host.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";

const GOODBYE_MS = 1_000;
const CLOSE_MS = 1_000;

export interface LeavingParts {
  host: Pick<Host, "getConnections">;
  requests: Pick<BeaconRequests, "goodbye">;
}

/** Ends connections, with or without a last word, whether the peer helps or not. */
export class Leaving {
  readonly #parts: LeavingParts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: LeavingParts) {
    this.#parts = parts;
  }

  isLeaving(peerId: string): boolean {
    return this.#underWay.has(peerId);
  }

  /** Never fails. Without a reason nothing is said. */
  leave(peerId: string, reason?: bigint): Promise<void> {
    const underWay = this.#underWay.get(peerId);
    if (underWay) return underWay;
    const leaving = this.#leave(peerId, reason).finally(() => this.#underWay.delete(peerId));
    this.#underWay.set(peerId, leaving);
    return leaving;
  }

  /** Resolves when nobody is being left any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #leave(peerId: string, reason: bigint | undefined): Promise<void> {
    const { host, requests } = this.#parts;
    if (reason !== undefined) await atMost(GOODBYE_MS, requests.goodbye(peerId, reason));
    const connections = host.getConnections(peerIdFromString(peerId));
    await Promise.all(
      connections.map(async (connection) => {
        try {
          await connection.close({ signal: AbortSignal.timeout(CLOSE_MS) });
        } catch (error) {
          connection.abort(error instanceof Error ? error : new Error(String(error)));
        }
      }),
    );
  }
}

/** The end of the work, or of its time; how it ended is of no interest. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([promise, work.catch(() => {})]);
  } finally {
    clearTimeout(timer);
  }
}
