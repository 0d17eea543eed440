import type { RootHex } from "@lodestar/types";
import type { BlockWithCommitments } from "../chain/data/data-availability.ts";
import { WrongSidecarError } from "../chain/data/verify-sidecars.ts";
import { LruMap } from "../collections/lru-map.ts";
import type { DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import type { SyncChain } from "./sync-chain.ts";

const MAX_CONCURRENT = 4;
const MAX_PEERS_PER_LOOKUP = 8;
/** Greater than the number of blocks that can wait for data at the same time. */
const MAX_TRACKED_BLOCKS = 64;
/** Fraction of a slot within which gossip should deliver a block's data. */
const GOSSIP_SHARE = 1 / 12;

interface DataLookupsParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
}

/**
 * Requests missing sidecars by root for blocks that are waiting for data: soon after the block arrives, and then every
 * slot.
 */
export class DataLookups {
  readonly #parts: DataLookupsParts;
  readonly #running = new Map<RootHex, Promise<void>>();
  /** Peers already tried per block, most recently tried last. */
  readonly #previouslyTried = new LruMap<RootHex, Set<string>>(MAX_TRACKED_BLOCKS);
  readonly #closed = new AbortController();
  /** Blocks beyond the concurrency limit, and blocks whose lookup from the previous slot is still running. */
  #queue: BlockWithCommitments[] = [];
  #unsubscribes: (() => void)[] = [];

  constructor(parts: DataLookupsParts) {
    this.#parts = parts;
  }

  start(): void {
    const { chain } = this.#parts;
    this.#unsubscribes.push(
      chain.data.onAwaited((block) => void this.#lookUpSoon(block)),
      chain.clock.onSlot(() => {
        this.#queue = [];
        for (const block of chain.data.awaited()) this.#lookUp(block);
      }),
    );
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    this.#closed.abort();
    await Promise.all(this.#running.values());
  }

  async #lookUpSoon(block: BlockWithCommitments): Promise<void> {
    const { clock } = this.#parts.chain;
    try {
      await clock.untilTime(clock.nowSeconds() + clock.secondsPerSlot * GOSSIP_SHARE, this.#closed.signal);
      if (!this.#running.has(block.root)) this.#lookUp(block);
    } catch {
      // The node is shutting down.
    }
  }

  #lookUp(block: BlockWithCommitments): void {
    const { root } = block;
    if (this.#closed.signal.aborted || !this.#isAwaited(root)) return;
    if (this.#running.has(root) || this.#running.size >= MAX_CONCURRENT) {
      this.#queue.push(block);
      return;
    }
    const lookup = this.#ask(block).finally(() => {
      this.#running.delete(root);
      const next = this.#queue.shift();
      if (next) this.#lookUp(next);
    });
    this.#running.set(root, lookup);
  }

  #isAwaited(root: RootHex): boolean {
    return this.#parts.chain.data.awaited().some((block) => block.root === root);
  }

  /** Never rejects. */
  async #ask(block: BlockWithCommitments): Promise<void> {
    const { chain, peers, logger } = this.#parts;
    const { root, signed } = block;
    const { slot } = signed.message;
    const triedBefore = this.#previouslyTried.get(root) ?? new Set();
    this.#previouslyTried.set(root, triedBefore);
    const triedPeers = new Set<string>();
    while (triedPeers.size < MAX_PEERS_PER_LOOKUP && this.#isAwaited(root) && !this.#closed.signal.aborted) {
      const missing = chain.data.missing(block);
      const request = this.#nextRequest(missing, { triedPeers, triedBefore }, chain.data.hasColumns(slot));
      if (missing.length === 0 || request === undefined) return;
      const { peerId } = request;
      triedPeers.add(peerId);
      triedBefore.delete(peerId);
      triedBefore.add(peerId);
      try {
        await chain.data.take([{ block, sidecars: await this.#sidecars(block, request) }]);
      } catch (error) {
        if (error instanceof WrongSidecarError) {
          logger.warn("Rejected sidecars from peer", { slot, root, peer: peerId, detail: error.message });
          peers.penalize(peerId, "severe", "invalid sidecars");
        } else if (!(error instanceof RequestError)) {
          logger.error("Could not process fetched sidecars", { slot, root, error });
          return;
        }
        // The failure has already been penalized. Another peer may have the data.
      }
    }
  }

  #sidecars(
    { root, signed }: BlockWithCommitments,
    { peerId, indices }: { peerId: string; indices: readonly number[] },
  ): Promise<DataSidecar[]> {
    const { chain, peers } = this.#parts;
    const { signal } = this.#closed;
    return chain.data.hasColumns(signed.message.slot)
      ? peers.requests.columnSidecarsByRoot(peerId, [{ root, indices }], signal)
      : peers.requests.blobSidecarsByRoot(peerId, [{ root, indices }], signal);
  }

  /**
   * Selects the peer with the most missing sidecars, and the one with the best score among equals. Peers that have been
   * tried before come last, so that a peer that claims all columns but serves none is not always first. Columns that no
   * peer custodies, or whose custodians lack them, are requested from any peer, since the block producer has them.
   */
  #nextRequest(
    missing: readonly number[],
    { triedPeers, triedBefore }: { triedPeers: ReadonlySet<string>; triedBefore: ReadonlySet<string> },
    hasColumns: boolean,
  ): { peerId: string; indices: readonly number[] } | undefined {
    const peers = this.#parts.peers.list().filter(({ peerId }) => !triedPeers.has(peerId));
    const custodiedBySome = new Set(peers.flatMap(({ columns }) => columns));
    const servable = ({ columns }: SyncPeer) =>
      hasColumns ? missing.filter((column) => columns.includes(column) || !custodiedBySome.has(column)) : missing;
    const lastTried = [...triedBefore];
    const [best] = peers
      .map((peer) => ({
        peerId: peer.peerId,
        turn: lastTried.indexOf(peer.peerId),
        score: peer.score,
        headSlot: peer.status.headSlot,
        indices: servable(peer),
      }))
      .filter(({ indices }) => indices.length > 0)
      .sort(
        (a, b) =>
          a.turn - b.turn || b.indices.length - a.indices.length || b.score - a.score || b.headSlot - a.headSlot,
      );
    return best;
  }
}
