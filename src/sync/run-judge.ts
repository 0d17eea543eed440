import type { RootHex } from "@lodestar/types";
import type { RejectionReason } from "../chain/import/block-rejection.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch } from "./batch.ts";
import type { BatchPeers } from "./batch-peers.ts";
import { INNOCENT_REFUSALS } from "./innocent-refusals.ts";
import { mistakenPeers } from "./mistaken-peers.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

const DISPUTES_HELD = 32;

export interface RunJudgeParts {
  chain: SyncChain;
  peers: SyncPeers;
  batchPeers: BatchPeers;
  target: SyncTarget;
}

/**
 * Whom a run blames for what. Blocks of two chains may all be valid, and which of them leads to the target is known at the
 * end: whoever gave those of the other is blamed only then.
 */
export class RunJudge {
  readonly #parts: RunJudgeParts;
  /** Whose answers cannot all be right. */
  #disputed: Batch[] = [];

  constructor(parts: RunJudgeParts) {
    this.#parts = parts;
  }

  onRefused(giver: string, reason: RejectionReason): void {
    if (INNOCENT_REFUSALS.has(reason)) return;
    this.#parts.batchPeers.distrust(giver);
    const severity = reason === "not-connected" ? "moderate" : "severe";
    this.#parts.peers.penalize(giver, severity, `block refused in sync: ${reason}`);
  }

  /** The peers that left out blocks, as is seen when the chain goes on from a known block. */
  withholders(batches: readonly Batch[], root: RootHex): string[] {
    return mistakenPeers(batches, root, this.#parts.chain).withheld;
  }

  /** To be decided at the end, as far as it is not clear. */
  defer(batches: readonly Batch[]): void {
    const disputed = batches.filter(({ isDisputed }) => isDisputed);
    this.#disputed = [...this.#disputed, ...disputed].slice(-DISPUTES_HELD);
  }

  /** The target is reached; the batches are the last of those that led to it. */
  settle(batches: readonly Batch[]): void {
    const { target, chain } = this.#parts;
    // Whoever left something out of the earlier ones was blamed for it when the chain went on.
    const { strayed } = mistakenPeers(this.#disputed, target.root, chain);
    const last = mistakenPeers(batches, target.root, chain);
    const culprits = [...strayed, ...last.withheld, ...last.strayed];
    this.blame(culprits, "withheld blocks, or gave those of another chain");
  }

  blame(peerIds: Iterable<string>, reason: string): void {
    for (const peerId of new Set(peerIds)) {
      this.#parts.batchPeers.distrust(peerId);
      this.#parts.peers.penalize(peerId, "moderate", reason);
    }
  }
}
