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
  /** First slot of the block backfill, which runs ahead of the data backfill. */
  blocksTarget(): Slot;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** Fetches missing blobs and columns of stored blocks. Keeps partial responses. */
export class DataBackfill implements BackfillTask {
  readonly #parts: DataBackfillParts;
  #progress: { line: Progress; from: Slot; isDone: boolean } | null = null;

  constructor(parts: DataBackfillParts) {
    this.#parts = parts;
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { data } = this.#parts.chain.history;
    const range = await data.next();
    if (range === null) return this.#finish();
    let incomplete = range.incomplete;
    const triedPeers = new Set<string>();
    while (incomplete.length > 0) {
      const peer = this.#parts.backfillPeers.pick(
        (peer) => !triedPeers.has(peer.peerId) && partOf(peer, { ...range, incomplete }).length > 0,
      );
      if (peer === null) return false;
      triedPeers.add(peer.peerId);
      incomplete = without(incomplete, await this.#ask(peer, { ...range, incomplete }, signal));
    }
    await data.settle(range);
    this.#report(range);
    return true;
  }

  /** Requests sidecars from a peer and stores them. Returns the stored sidecars. */
  async #ask(peer: SyncPeer, range: DataRange, signal: AbortSignal): Promise<SidecarsOfBlock[]> {
    const { chain, peers, backfillPeers, logger } = this.#parts;
    const { peerId } = peer;
    const part = partOf(peer, range);
    const identifiers = part.map(({ root, missing }) => ({ root, indices: missing }));
    const request: Promise<DataSidecar[]> = range.hasColumns
      ? peers.requests.columnSidecarsByRoot(peerId, identifiers, signal)
      : peers.requests.blobSidecarsByRoot(peerId, identifiers, signal);
    const sidecars = await backfillPeers.responseOf(peerId, request, signal);
    const entries = sidecars ? entriesOf(part, sidecars) : [];
    if (entries.length === 0) {
      backfillPeers.backOff(peerId);
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
    const { line, from: start } = this.#progress;
    // Blocks that are yet to be fetched will need data as well.
    const target = Math.min(bottom, Math.max(windowStart, blocksTarget()));
    this.#progress.isDone = from <= target;
    const fields = (slotsPerSecond: number | undefined) => ({ slot: from, target, slotsPerSecond });
    line.report(start - from, start - target, fields);
  }

  /** The data backfill is not finished until all blocks have been fetched. */
  #finish(): false {
    if (!this.#progress?.isDone) return false;
    this.#progress.line.finish();
    this.#progress = null;
    return false;
  }
}

/** Returns the part of a range for which the peer may have data. */
function partOf({ status, columns }: SyncPeer, { hasColumns, incomplete }: DataRange): IncompleteBlock[] {
  const custody = new Set(columns);
  return incomplete
    .filter(({ signed }) => signed.message.slot >= status.earliestAvailableSlot)
    .map((block) => (hasColumns ? { ...block, missing: block.missing.filter((index) => custody.has(index)) } : block))
    .filter(({ missing }) => missing.length > 0);
}

function entriesOf(blocks: readonly IncompleteBlock[], sidecars: readonly DataSidecar[]): SidecarsOfBlock[] {
  const received = new Map<RootHex, DataSidecar[]>();
  for (const sidecar of sidecars) {
    const root = blockRootOfSidecar(sidecar);
    received.set(root, [...(received.get(root) ?? []), sidecar]);
  }
  return blocks.flatMap((block) => {
    const fitting = (received.get(block.root) ?? []).filter(({ index }) => block.missing.includes(index));
    return fitting.length > 0 ? [{ block, sidecars: fitting }] : [];
  });
}

function without(
  incomplete: readonly IncompleteBlock[],
  entries: readonly SidecarsOfBlock[],
): readonly IncompleteBlock[] {
  const received = new Map(
    entries.map(({ block, sidecars }) => [block.root, new Set(sidecars.map(({ index }) => index))]),
  );
  return incomplete
    .map((block) => ({ ...block, missing: block.missing.filter((index) => !received.get(block.root)?.has(index)) }))
    .filter(({ missing }) => missing.length > 0);
}
