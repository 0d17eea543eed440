import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import type { RejectionReason } from "../chain/import/block-rejection.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch, FaultyPeers } from "./batch.ts";
import type { BatchPeers } from "./batch-peers.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/**
 * Rejections that tell about us or about the moment, not about the block or whoever gave it. What a peer gives is compared
 * with what is final before it is imported, so a conflict with that means that finality moved on meanwhile. A peer that follows
 * optimistically cannot know that a payload is invalid (bellatrix/p2p-interface.md, the Req/Resp domain).
 */
export const NO_FAULT_REJECTIONS: ReadonlySet<RejectionReason> = new Set([
  "future-slot",
  "unknown-parent",
  "before-history",
  "finalized-slot",
  "not-descendant-of-finalized",
  "data-unavailable",
  "invalid-payload",
  "invalid-parent",
  "unknown-terminal-block",
  "engine-unavailable",
  "node-stopping",
]);

const DISPUTES_HELD = 32;

interface RangePenaltiesParts {
  chain: SyncChain;
  peers: SyncPeers;
  batchPeers: BatchPeers;
  target: SyncTarget;
}

/**
 * Whom a run penalizes for what. Blocks of two chains may all be valid, and which of them leads to the target is known at the
 * end: whoever gave those of the other is penalized only then.
 */
export class RangePenalties {
  readonly #parts: RangePenaltiesParts;
  /** Whose answers cannot all be right. */
  #disputed: Batch[] = [];

  constructor(parts: RangePenaltiesParts) {
    this.#parts = parts;
  }

  onRefused(giver: string, reason: RejectionReason): void {
    if (NO_FAULT_REJECTIONS.has(reason)) return;
    this.#parts.batchPeers.distrust(giver);
    const severity = reason === "not-connected" ? "moderate" : "severe";
    this.#parts.peers.penalize(giver, severity, `block refused in sync: ${reason}`);
  }

  /** The peers that left out blocks, as is seen when the chain goes on from a known block. */
  withholders(batches: readonly Batch[], root: RootHex): string[] {
    return faultyPeersOf(batches, root, this.#parts.chain).withheld;
  }

  /** To be decided at the end, as far as it is not clear. */
  defer(batches: readonly Batch[]): void {
    const disputed = batches.filter(({ isDisputed }) => isDisputed);
    this.#disputed = [...this.#disputed, ...disputed].slice(-DISPUTES_HELD);
  }

  /** The target is reached; the batches are the last of those that led to it. */
  settle(batches: readonly Batch[]): void {
    const { target, chain } = this.#parts;
    // Whoever left something out of the earlier ones was penalized for it when the chain went on.
    const { strayed } = faultyPeersOf(this.#disputed, target.root, chain);
    const last = faultyPeersOf(batches, target.root, chain);
    const culprits = [...strayed, ...last.withheld, ...last.strayed];
    this.penalize(culprits, "withheld blocks, or gave those of another chain");
  }

  penalize(peerIds: Iterable<string>, reason: string): void {
    for (const peerId of new Set(peerIds)) {
      this.#parts.batchPeers.distrust(peerId);
      this.#parts.peers.penalize(peerId, "moderate", reason);
    }
  }
}

/** Whose answers to the batches were wrong, if the chain goes on from the given block, which is known. */
function faultyPeersOf(
  batches: readonly Batch[],
  root: RootHex,
  { forkChoice, config }: Pick<SyncChain, "forkChoice" | "config">,
): FaultyPeers {
  const rootAt = (slot: Slot) => forkChoice.ancestorAtSlot(root, slot);
  const rootOf = ({ message }: SignedBeaconBlock) => blockRoot(config, message);
  const verdicts = batches.flatMap((batch) => {
    const lastRoot = batch.isDisputed ? rootAt(batch.lastSlot) : undefined;
    const last = lastRoot === undefined ? undefined : forkChoice.get(lastRoot);
    // Where fork choice does not reach back any more, nothing can be said.
    if (last === undefined) return [];
    return batch.faultyPeers({ last: last.slot < batch.range.startSlot ? null : last.root, rootAt, rootOf });
  });
  return {
    withheld: verdicts.flatMap(({ withheld }) => withheld),
    strayed: verdicts.flatMap(({ strayed }) => strayed),
  };
}
