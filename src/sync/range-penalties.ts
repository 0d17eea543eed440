import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import type { RejectionReason } from "../chain/import/block-rejection.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { Batch, FaultyPeers } from "./batch.ts";
import type { BatchPeers } from "./batch-peers.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/**
 * Rejections for which the serving peer is not to blame. Finality is checked before the import, so a conflict means
 * that finality has advanced since. An optimistic peer cannot know that a payload is invalid
 * (bellatrix/p2p-interface.md, The Req/Resp domain).
 */
export const NO_FAULT_REJECTIONS: ReadonlySet<RejectionReason> = new Set([
  "future-slot",
  "unknown-parent",
  "unknown-parent-payload",
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

const MAX_DISPUTES = 32;

interface RangePenaltiesParts {
  chain: SyncChain;
  peers: SyncPeers;
  batchPeers: BatchPeers;
  target: SyncTarget;
}

/**
 * Penalizes peers during a range sync run. Blocks of two competing chains may all be valid, so penalties for serving
 * the wrong chain are deferred until the end of the run, when it is known which chain leads to the target.
 */
export class RangePenalties {
  readonly #parts: RangePenaltiesParts;
  /** Batches with contradicting responses. */
  #disputed: Batch[] = [];

  constructor(parts: RangePenaltiesParts) {
    this.#parts = parts;
  }

  onRejected(servingPeer: string, reason: RejectionReason): void {
    if (NO_FAULT_REJECTIONS.has(reason)) return;
    this.#parts.batchPeers.distrust(servingPeer);
    const severity = reason === "not-connected" ? "moderate" : "severe";
    this.#parts.peers.penalize(servingPeer, severity, `invalid block in range sync: ${reason}`);
  }

  /** Returns the peers that omitted blocks, given a known block after the batches on the same chain. */
  withholders(batches: readonly Batch[], root: RootHex): string[] {
    return faultyPeersOf(batches, root, this.#parts.chain).withheld;
  }

  /** Defers the decision on disputed batches. */
  defer(batches: readonly Batch[]): void {
    const disputed = batches.filter(({ isDisputed }) => isDisputed);
    this.#disputed = [...this.#disputed, ...disputed].slice(-MAX_DISPUTES);
  }

  /** Applies penalties after the target has been reached. `batches` are the last batches before the target. */
  settle(batches: readonly Batch[]): void {
    const { target, chain } = this.#parts;
    // Omissions in earlier batches were penalized when the chain was continued.
    const { strayed } = faultyPeersOf(this.#disputed, target.root, chain);
    const last = faultyPeersOf(batches, target.root, chain);
    const culprits = [...strayed, ...last.withheld, ...last.strayed];
    this.penalize(culprits, "withheld blocks or served another chain");
  }

  penalize(peerIds: Iterable<string>, reason: string): void {
    for (const peerId of new Set(peerIds)) {
      this.#parts.batchPeers.distrust(peerId);
      this.#parts.peers.penalize(peerId, "moderate", reason);
    }
  }
}

/** Returns the peers whose responses contradict the chain of the given block, which must be known. */
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
    // Blocks older than those in fork choice cannot be judged.
    if (last === undefined) return [];
    return batch.faultyPeers({ last: last.slot < batch.range.startSlot ? null : last.root, rootAt, rootOf });
  });
  return {
    withheld: verdicts.flatMap(({ withheld }) => withheld),
    strayed: verdicts.flatMap(({ strayed }) => strayed),
  };
}
