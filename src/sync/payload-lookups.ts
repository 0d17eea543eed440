import type { gloas, RootHex, Slot } from "@lodestar/types";
import { BlockRejection, isHeld, isNodeStopping } from "../chain/import/block-rejection.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { ensureAnchorBlock } from "./anchor-block.ts";
import { orderedPeers } from "./peer-order.ts";
import type { SyncChain } from "./sync-chain.ts";

const MAX_CONCURRENT = 4;
const MAX_WANTED = 64;
const MAX_PER_PEER = 8;
const MAX_PEERS_PER_LOOKUP = 5;
/** Number of slots in which a payload is requested; it may never have been revealed. */
const SLOTS_WANTED = 4;

interface Wanted {
  since: Slot;
  referrers: Set<string>;
}

interface PayloadLookupsParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
}

/**
 * Requests payloads by root that a block is built on or that attesters have seen: at once, and then in the next slots.
 * Gossip delivers others.
 */
export class PayloadLookups {
  readonly #parts: PayloadLookupsParts;
  readonly #wanted = new Map<RootHex, Wanted>();
  readonly #running = new Map<RootHex, Promise<void>>();
  readonly #closed = new AbortController();
  #unsubscribes: (() => void)[] = [];

  constructor(parts: PayloadLookupsParts) {
    this.#parts = parts;
  }

  start(): void {
    const { events, clock } = this.#parts.chain;
    this.#unsubscribes.push(
      events.on("payloadAwaited", ({ root }) => this.seek(root)),
      events.on("payload", ({ root }) => this.#wanted.delete(root)),
      clock.onSlot((slot) => this.#onSlot(slot)),
    );
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    this.#closed.abort();
    await Promise.all(this.#running.values());
  }

  /** Requests the payload of a known block. A referrer is the peer that sent an object which depends on the payload. */
  seek(root: RootHex, referrer?: string): void {
    if (this.#closed.signal.aborted || !this.#isMissing(root)) return;
    const wanted = this.#wanted.get(root);
    if (wanted) {
      if (referrer !== undefined) wanted.referrers.add(referrer);
      return;
    }
    if (this.#wanted.size >= MAX_WANTED || (referrer !== undefined && this.#countOf(referrer) >= MAX_PER_PEER)) return;
    const referrers = new Set(referrer === undefined ? [] : [referrer]);
    this.#wanted.set(root, { since: this.#parts.chain.clock.currentSlot, referrers });
    this.#runNext();
  }

  #onSlot(slot: Slot): void {
    for (const [root, { since }] of this.#wanted) {
      if (since + SLOTS_WANTED < slot || !this.#isMissing(root)) this.#wanted.delete(root);
    }
    this.#runNext();
  }

  /** False for a payload that has arrived and waits for its data or the execution engine. */
  #isMissing(root: RootHex): boolean {
    const { chain } = this.#parts;
    const block = chain.forkChoice.get(root);
    return block?.bid !== undefined && block.execution.status === "absent" && !chain.isPayloadPending(root);
  }

  #countOf(peerId: string): number {
    let count = 0;
    for (const { referrers } of this.#wanted.values()) if (referrers.has(peerId)) count++;
    return count;
  }

  #runNext(): void {
    for (const [root, wanted] of this.#wanted) {
      if (this.#running.size >= MAX_CONCURRENT || this.#closed.signal.aborted) return;
      if (this.#running.has(root) || !this.#isMissing(root)) continue;
      this.#running.set(
        root,
        this.#run(root, wanted).finally(() => this.#running.delete(root)),
      );
    }
  }

  /** Never rejects. */
  async #run(root: RootHex, { referrers }: Wanted): Promise<void> {
    const { peers, logger } = this.#parts;
    const { signal } = this.#closed;
    const triedPeers = new Set<string>();
    while (triedPeers.size < MAX_PEERS_PER_LOOKUP && !signal.aborted && this.#isMissing(root)) {
      const [peer] = orderedPeers(peers, triedPeers, referrers);
      if (peer === undefined) return;
      const { peerId } = peer;
      triedPeers.add(peerId);
      try {
        await ensureAnchorBlock(this.#parts, root, peerId, signal);
        const [envelope] = await peers.requests.payloadsByRoot(peerId, [root], signal);
        if (envelope && (await this.#import(envelope, peerId))) return;
      } catch (error) {
        // The failure has already been penalized. Another peer may have the payload.
        logger.debug("Payload request failed", { root, peer: peerId, error });
      }
    }
  }

  /** Returns false if another peer may have a valid payload. */
  async #import(envelope: gloas.SignedExecutionPayloadEnvelope, peerId: string): Promise<boolean> {
    const { chain, peers, logger } = this.#parts;
    try {
      const { root } = await chain.importPayload(envelope, { waitsForData: false });
      logger.debug("Imported looked up payload", { root });
      return true;
    } catch (error) {
      if (!(error instanceof BlockRejection)) {
        logger.error("Could not import looked up payload", { peer: peerId, error });
        return true;
      }
      const { reason, slot, root, message: detail } = error;
      if (isHeld(error) || isNodeStopping(error)) return true;
      logger.warn("Rejected payload from peer", { slot, root, peer: peerId, reason, detail });
      const isForged = reason === "invalid-envelope" || reason === "invalid-signature";
      if (isForged) peers.penalize(peerId, "severe", `invalid payload: ${reason}`);
      return !isForged;
    }
  }
}
