import type { RootHex } from "@lodestar/types";
import type { CommittingBlock } from "../chain/data/data-availability.ts";
import { WrongSidecarError } from "../chain/data/verify-sidecars.ts";
import { LruMap } from "../chain/lru-map.ts";
import type { DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import type { SyncChain } from "./sync-chain.ts";

const AT_ONCE = 4;
const PEERS_ASKED = 8;
/** More blocks than can wait for data at the same time. */
const REMEMBERED_BLOCKS = 64;
/** Of a slot, within which gossip is to bring the data of a block after the block itself. */
const GOSSIP_SHARE = 1 / 12;

interface DataLookupsParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
}

/** Asks peers for the data of single blocks that wait for it, by root: a moment after the block came, and again in every slot. */
export class DataLookups {
  readonly #parts: DataLookupsParts;
  readonly #running = new Map<RootHex, Promise<void>>();
  /** Whom the data of a block was asked of before, the last at the end. */
  readonly #askedBefore = new LruMap<RootHex, Set<string>>(REMEMBERED_BLOCKS);
  readonly #closed = new AbortController();
  /** Those of the slot that found no room, or are still being asked for since the slot before. */
  #due: CommittingBlock[] = [];
  #stop: (() => void)[] = [];

  constructor(parts: DataLookupsParts) {
    this.#parts = parts;
  }

  start(): void {
    const { chain } = this.#parts;
    this.#stop.push(
      chain.data.onAwaited((block) => void this.#seekSoon(block)),
      chain.clock.onSlot(() => {
        this.#due = [];
        for (const block of chain.data.awaited()) this.#seek(block);
      }),
    );
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    this.#closed.abort();
    await Promise.all(this.#running.values());
  }

  async #seekSoon(block: CommittingBlock): Promise<void> {
    const { clock } = this.#parts.chain;
    try {
      await clock.untilTime(clock.nowSeconds() + clock.secondsPerSlot * GOSSIP_SHARE, this.#closed.signal);
      if (!this.#running.has(block.root)) this.#seek(block);
    } catch {
      // The node stops.
    }
  }

  #seek(block: CommittingBlock): void {
    const { root } = block;
    if (this.#closed.signal.aborted || !this.#isAwaited(root)) return;
    if (this.#running.has(root) || this.#running.size >= AT_ONCE) {
      this.#due.push(block);
      return;
    }
    const asking = this.#ask(block).finally(() => {
      this.#running.delete(root);
      const next = this.#due.shift();
      if (next) this.#seek(next);
    });
    this.#running.set(root, asking);
  }

  #isAwaited(root: RootHex): boolean {
    return this.#parts.chain.data.awaited().some((block) => block.root === root);
  }

  /** Never rejects. */
  async #ask(block: CommittingBlock): Promise<void> {
    const { chain, peers, logger } = this.#parts;
    const { root, signed } = block;
    const { slot } = signed.message;
    const before = this.#askedBefore.get(root) ?? new Set();
    this.#askedBefore.set(root, before);
    const asked = new Set<string>();
    while (asked.size < PEERS_ASKED && this.#isAwaited(root) && !this.#closed.signal.aborted) {
      const missing = chain.data.missing(block);
      const request = this.#nextRequest(missing, { asked, before }, chain.data.hasColumns(slot));
      if (missing.length === 0 || request === undefined) return;
      const { peerId } = request;
      asked.add(peerId);
      before.delete(peerId);
      before.add(peerId);
      try {
        await chain.data.take([{ block, sidecars: await this.#sidecars(block, request) }]);
      } catch (error) {
        if (error instanceof WrongSidecarError) {
          logger.warn("Data that a peer gave is refused", { slot, root, peer: peerId, detail: error.message });
          peers.penalize(peerId, "severe", "wrong data given for a block");
        } else if (!(error instanceof RequestError)) {
          logger.error("Data that was fetched could not be used", { slot, root, error });
          return;
        }
        // The network has taken note of a failed request; another peer may have the data.
      }
    }
  }

  #sidecars(
    { root, signed }: CommittingBlock,
    { peerId, indices }: { peerId: string; indices: readonly number[] },
  ): Promise<DataSidecar[]> {
    const { chain, peers } = this.#parts;
    const { signal } = this.#closed;
    return chain.data.hasColumns(signed.message.slot)
      ? peers.columnSidecarsByRoot(peerId, [{ root, indices }], signal)
      : peers.blobSidecarsByRoot(peerId, [{ root, indices }], signal);
  }

  /**
   * Of the peer that keeps most of what is missing; of such that keep as much, the better one. Those that were asked before come
   * after the others, so that nobody who claims to keep all and gives nothing is always the first. Columns that none of them keeps
   * are asked of all: whoever made the block has them.
   */
  #nextRequest(
    missing: readonly number[],
    { asked, before }: { asked: ReadonlySet<string>; before: ReadonlySet<string> },
    hasColumns: boolean,
  ): { peerId: string; indices: readonly number[] } | undefined {
    const peers = this.#parts.peers.list();
    const keptBySome = new Set(peers.flatMap(({ columns }) => columns));
    const kept = ({ columns }: SyncPeer) =>
      hasColumns ? missing.filter((column) => columns.includes(column) || !keptBySome.has(column)) : missing;
    const turns = [...before];
    const [best] = peers
      .filter(({ peerId }) => !asked.has(peerId))
      .map((peer) => ({
        peerId: peer.peerId,
        turn: turns.indexOf(peer.peerId),
        score: peer.score,
        headSlot: peer.status.headSlot,
        indices: kept(peer),
      }))
      .filter(({ indices }) => indices.length > 0)
      .sort(
        (a, b) =>
          a.turn - b.turn || b.indices.length - a.indices.length || b.score - a.score || b.headSlot - a.headSlot,
      );
    return best;
  }
}
