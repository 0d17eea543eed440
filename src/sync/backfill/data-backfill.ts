import type { RootHex, Slot } from "@lodestar/types";
import type { Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { type SidecarsOfBlock, WrongSidecarError } from "../../chain/data/verify-sidecars.ts";
import type { DataRange, IncompleteBlock } from "../../chain/history/data-history.ts";
import { blockRootOfSidecar, type DataSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import type { SyncPeer, SyncPeers } from "../../network/peers/sync-peers.ts";
import type { BackfillPeers } from "./backfill-peers.ts";
import type { BackfillTask } from "./backfill-task.ts";

interface DataBackfillParts {
  chain: Pick<BeaconChain, "history">;
  peers: SyncPeers;
  backfillPeers: BackfillPeers;
  /** First slot to which blocks are fetched, ahead of their data. */
  blocksTarget(): Slot;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Fetches missing blobs and columns of stored blocks. Partial responses are kept. */
export class DataBackfill implements BackfillTask {
  readonly #parts: DataBackfillParts;
  #progress: { line: Progress; from: Slot; isDone: boolean } | null = null;

  constructor(parts: DataBackfillParts) {
    this.#parts = parts;
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { data } = this.#parts.chain.history;
    const stretch = await data.next();
    if (stretch === null) return this.#finish();
    let incomplete = stretch.incomplete;
    const asked = new Set<string>();
    while (incomplete.length > 0) {
      const peer = this.#parts.backfillPeers.pick(
        (peer) => !asked.has(peer.peerId) && partOf(peer, { ...stretch, incomplete }).length > 0,
      );
      if (peer === null) return false;
      asked.add(peer.peerId);
      incomplete = without(incomplete, await this.#ask(peer, { ...stretch, incomplete }, signal));
    }
    await data.settle(stretch);
    this.#report(stretch);
    return true;
  }

  /** Requests and stores sidecars of a peer. Returns what was stored. */
  async #ask(peer: SyncPeer, stretch: DataRange, signal: AbortSignal): Promise<SidecarsOfBlock[]> {
    const { chain, peers, backfillPeers, logger } = this.#parts;
    const { peerId } = peer;
    const part = partOf(peer, stretch);
    const wanted = part.map(({ root, missing }) => ({ root, indices: missing }));
    const request: Promise<DataSidecar[]> = stretch.hasColumns
      ? peers.requests.columnSidecarsByRoot(peerId, wanted, signal)
      : peers.requests.blobSidecarsByRoot(peerId, wanted, signal);
    const sidecars = await backfillPeers.responseOf(peerId, request, signal);
    const entries = sidecars ? entriesOf(part, sidecars) : [];
    if (entries.length === 0) {
      backfillPeers.rest(peerId);
      return [];
    }
    try {
      await chain.history.data.store(entries);
    } catch (error) {
      if (!(error instanceof WrongSidecarError)) throw error;
      logger.warn("Rejected backfill sidecars from peer", { peer: peerId, detail: error.message });
      backfillPeers.blame(peerId, "severe", "invalid backfill sidecars");
      return [];
    }
    return entries;
  }

  #report({ from, before, bottom, windowStart }: DataRange): void {
    const { logger, timers, blocksTarget } = this.#parts;
    const message = "Backfilling sidecars";
    this.#progress ??= { line: new Progress({ message, logger, timers }), from: before, isDone: false };
    const { line, from: began } = this.#progress;
    // Blocks that are still to be fetched have data too.
    const target = Math.min(bottom, Math.max(windowStart, blocksTarget()));
    this.#progress.isDone = from <= target;
    const fields = (slotsPerSecond: number | undefined) => ({ slot: from, target, slotsPerSecond });
    line.report(began - from, began - target, fields);
  }

  /** Not finished while more blocks are still to be fetched. */
  #finish(): false {
    if (!this.#progress?.isDone) return false;
    this.#progress.line.finish();
    this.#progress = null;
    return false;
  }
}

/** Returns the part of a stretch that the peer may have. */
function partOf({ status, columns }: SyncPeer, { hasColumns, incomplete }: DataRange): IncompleteBlock[] {
  const kept = new Set(columns);
  return incomplete
    .filter(({ signed }) => signed.message.slot >= status.earliestAvailableSlot)
    .map((block) => (hasColumns ? { ...block, missing: block.missing.filter((index) => kept.has(index)) } : block))
    .filter(({ missing }) => missing.length > 0);
}

function entriesOf(blocks: readonly IncompleteBlock[], sidecars: readonly DataSidecar[]): SidecarsOfBlock[] {
  const given = new Map<RootHex, DataSidecar[]>();
  for (const sidecar of sidecars) {
    const root = blockRootOfSidecar(sidecar);
    given.set(root, [...(given.get(root) ?? []), sidecar]);
  }
  return blocks.flatMap((block) => {
    const wanted = (given.get(block.root) ?? []).filter(({ index }) => block.missing.includes(index));
    return wanted.length > 0 ? [{ block, sidecars: wanted }] : [];
  });
}

function without(
  incomplete: readonly IncompleteBlock[],
  entries: readonly SidecarsOfBlock[],
): readonly IncompleteBlock[] {
  const given = new Map(
    entries.map(({ block, sidecars }) => [block.root, new Set(sidecars.map(({ index }) => index))]),
  );
  return incomplete
    .map((block) => ({ ...block, missing: block.missing.filter((index) => !given.get(block.root)?.has(index)) }))
    .filter(({ missing }) => missing.length > 0);
}
