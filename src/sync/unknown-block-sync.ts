import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import { BlockRejection, isHeld } from "../chain/import/block-rejection.ts";
import { InvalidBlockRoots } from "../chain/import/invalid-block-roots.ts";
import type { Logger } from "../log/logger.ts";
import type { UnknownBlocks } from "../network/gossip/block-handler.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { BlockLookups, type FoundBlocks } from "./block-lookups.ts";
import { type PendingBlock, PendingBlocks } from "./pending-blocks.ts";
import { NO_FAULT_REJECTIONS } from "./range-penalties.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/** Maximum number of ancestors that are looked up by root. Longer branches are left to range sync. */
export const MAX_DEPTH = 32;

const PENDING_LIMITS = { count: 128, bytes: 64 * 2 ** 20, perPeer: 16, slots: 64 };

interface UnknownBlockSyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
  slotsPerEpoch: number;
  /** Returns true while range sync is fetching the missing blocks. */
  isRangeSyncing(): boolean;
  /** Called for a branch that is too long for lookups. */
  onLongBranch(branch: SyncTarget): void;
}

/** Looks up unknown blocks that gossip refers to, and imports them and their descendants, parents first. */
export class UnknownBlockSync implements Omit<UnknownBlocks, "onUnknownPayload"> {
  readonly #parts: UnknownBlockSyncParts;
  readonly #pending: PendingBlocks;
  readonly #lookups: BlockLookups;
  /** Blocks on branches that left the chain before its finalized block, and their descendants. */
  readonly #finalityConflicts = new InvalidBlockRoots();
  readonly #inFlight = new Set<Promise<void>>();
  #unsubscribes: (() => void)[] = [];

  constructor(parts: UnknownBlockSyncParts) {
    const { chain, peers, logger } = parts;
    this.#parts = parts;
    this.#pending = new PendingBlocks(chain.config, PENDING_LIMITS);
    this.#lookups = new BlockLookups({
      peers,
      clock: chain.clock,
      logger,
      isSigned: (signed) => this.#isSigned(signed),
      onFound: (found) => this.#onFound(found),
      onMissing: (root) => void this.#pending.removeDescendantsOf(root),
    });
  }

  start(): void {
    const { chain } = this.#parts;
    this.#unsubscribes.push(
      chain.events.on("block", ({ root }) => this.#importChildrenOf(root)),
      chain.clock.onSlot((slot) => this.#onSlot(slot)),
    );
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    await this.#lookups.close();
    await Promise.all(this.#inFlight);
  }

  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void {
    const { chain } = this.#parts;
    const { slot } = signed.message;
    if (slot <= this.#finalizedSlot || slot > chain.clock.currentSlot + 1) return;
    // A block that arrives at the end of a range sync is received only once. Range sync fetches its parents.
    const isRangeSyncing = this.#parts.isRangeSyncing();
    if (isRangeSyncing ? slot > chain.head.slot + MAX_DEPTH : this.#isFarAhead(slot, peerId)) return;
    if (!this.#pending.hasRoomFor(peerId)) return;
    const root = blockRoot(chain.config, signed.message);
    if (chain.forkChoice.has(root) || chain.isImporting(root)) return;
    const pending = this.#pending.add(signed, { root, peerId, isRequested: false, clock: chain.clock });
    if (pending && (!isRangeSyncing || chain.forkChoice.has(pending.parentRoot))) this.#proceed(pending);
  }

  onUnknownBlock(root: RootHex, peerId: string): void {
    if (this.#parts.isRangeSyncing()) return;
    if (this.#badBlocksWith(root)) {
      this.#parts.peers.penalize(peerId, "moderate", "referenced an invalid block");
      return;
    }
    this.#lookUp(root, [peerId]);
  }

  /** Resumes blocks that were waiting for range sync or for a free lookup. */
  resume(): void {
    if (this.#parts.isRangeSyncing()) return;
    for (const pending of this.#pending.oldest()) this.#proceed(pending);
  }

  #onSlot(slot: Slot): void {
    this.#pending.prune(this.#finalizedSlot, slot);
    this.resume();
  }

  get #finalizedSlot(): Slot {
    return finalizedSlotOf(this.#parts.chain, this.#parts.slotsPerEpoch);
  }

  /**
   * Returns true for a block that is far ahead. The peer must have advanced since its last status, so its status is
   * requested again, which lets range sync catch up.
   */
  #isFarAhead(slot: Slot, peerId: string): boolean {
    const { chain, peers } = this.#parts;
    if (slot <= chain.head.slot + MAX_DEPTH) return false;
    if (this.#lookups.shouldRequestStatus(peerId)) peers.refreshStatus(peerId);
    return true;
  }

  /** Verifies the proposer signature. An unknown validator is accepted, since a missing block may have added it. */
  async #isSigned(signed: SignedBeaconBlock): Promise<boolean> {
    const { config, validation } = this.#parts.chain;
    const { proposerIndex } = signed.message;
    if (proposerIndex >= validation.states.head.validators.length) return Number.isSafeInteger(proposerIndex);
    return validation.bls.verify([getBlockProposerSignatureSet(config, signed)]);
  }

  /** Looks up the block, with ancestors if `count` exceeds 1. */
  #lookUp(root: RootHex, peerIds: Iterable<string>, count = 1): void {
    const { chain } = this.#parts;
    // The block will be announced once the execution engine has responded and its data is available.
    if (chain.forkChoice.has(root) || chain.isImporting(root)) return;
    if (chain.isWaitingForEngine(root) || chain.isWaitingForData(root) || chain.isAwaitingPayload(root)) return;
    if (chain.forkChoice.isInvalid(root)) {
      this.#pending.removeDescendantsOf(root);
      return;
    }
    const pending = this.#pending.get(root);
    if (!pending) this.#lookups.seek(root, peerIds, count);
    else if (!this.#lookups.isPending(pending.parentRoot)) this.#proceed(pending);
  }

  #onFound({ blocks, root: sought, servingPeer, referrers }: FoundBlocks): void {
    const { chain } = this.#parts;
    let oldest: PendingBlock | undefined;
    for (const signed of blocks) {
      const { slot } = signed.message;
      const root = oldest?.parentRoot ?? sought;
      if (chain.forkChoice.has(root) || this.#badBlocksWith(root)) break;
      if (slot <= this.#finalizedSlot) {
        this.#markBad(root, referrers, "is on a branch that conflicts with finality", this.#finalityConflicts);
        return;
      }
      oldest = this.#isFarAhead(slot, servingPeer)
        ? undefined
        : this.#pending.add(signed, { root, peerId: servingPeer, isRequested: true, clock: chain.clock });
      if (!oldest) {
        this.#pending.removeDescendantsOf(root);
        return;
      }
    }
    if (oldest) this.#proceed(oldest);
    else this.#importChildrenOf(sought);
  }

  /** Advances a pending block: imports it, rejects it, or looks up its parent. */
  #proceed(pending: PendingBlock): void {
    const { root, parentRoot, peers } = pending;
    const waiting = this.#pending.descendantsOf(root).length;
    const badBlocks = this.#badBlocksWith(parentRoot);
    if (this.#parts.chain.forkChoice.has(parentRoot)) {
      void this.#import(root);
    } else if (badBlocks) {
      this.#pending.remove(root);
      this.#warn(pending, { reason: "invalid-parent", message: `The parent ${parentRoot} is invalid.` });
      this.#markBad(root, peers, "builds on an invalid block", badBlocks);
    } else if (waiting >= MAX_DEPTH) {
      this.#delegateToRangeSync(pending);
    } else {
      // Usually only one block is missing. The request size grows with the branch length.
      this.#lookUp(parentRoot, peers, Math.min(1 + waiting, MAX_DEPTH - waiting));
    }
  }

  /** Imports the block, followed by its pending children. */
  async #import(root: RootHex): Promise<void> {
    const pending = this.#pending.remove(root);
    if (pending === undefined) return;
    const importing = this.#importPending(pending);
    this.#inFlight.add(importing);
    await importing;
    this.#inFlight.delete(importing);
    this.#importChildrenOf(root);
  }

  async #importPending(pending: PendingBlock): Promise<void> {
    const { chain, logger } = this.#parts;
    const { root, signed, peers, slot, arrivedAt, isRequested } = pending;
    try {
      await chain.importBlock(signed, { arrivedAt, waitsForData: false });
      logger.debug("Imported looked up block", { slot, root });
    } catch (error) {
      if (error instanceof BlockRejection && !NO_FAULT_REJECTIONS.has(error.reason)) {
        this.#warn(pending, error);
        // Gossip is forwarded before the state transition, whereas blocks that a peer serves by root belong to the
        // peer's own chain.
        const severity = isRequested ? "severe" : "moderate";
        for (const peerId of peers) this.#parts.peers.penalize(peerId, severity, `invalid block: ${error.reason}`);
        const badBlocks = this.#badBlocksWith(root);
        if (badBlocks) this.#markBad(root, [], "builds on an invalid block", badBlocks);
        // The root is not marked as invalid, because the same block may arrive with a valid signature.
        else this.#pending.removeDescendantsOf(root);
        return;
      }
      if (error instanceof BlockRejection && isHeld(error)) return;
      if (error instanceof BlockRejection && error.reason === "invalid-payload") this.#warn(pending, error);
      if (!(error instanceof BlockRejection)) logger.error("Could not import looked up block", { slot, root, error });
      this.#pending.removeDescendantsOf(root);
    }
  }

  #importChildrenOf(root: RootHex): void {
    if (!this.#parts.chain.forkChoice.has(root)) return;
    for (const child of this.#pending.childrenOf(root)) void this.#import(child.root);
  }

  /** Returns the list of bad blocks that contains the block, if any. */
  #badBlocksWith(root: RootHex): Pick<InvalidBlockRoots, "add"> | undefined {
    const { invalidBlocks } = this.#parts.chain.validation;
    return [invalidBlocks, this.#finalityConflicts].find((badBlocks) => badBlocks.has(root));
  }

  /** Marks the block and its descendants as bad, and penalizes the peers that sent them. */
  #markBad(root: RootHex, culprits: Iterable<string>, reason: string, badBlocks: Pick<InvalidBlockRoots, "add">): void {
    const descendants = this.#pending.removeDescendantsOf(root);
    for (const descendant of descendants)
      this.#warn(descendant, { reason: "invalid-parent", message: `It ${reason}.` });
    for (const bad of [root, ...descendants.map((descendant) => descendant.root)]) badBlocks.add(bad);
    const senders = new Set([...culprits, ...descendants.flatMap(({ peers }) => [...peers])]);
    for (const peerId of senders) this.#parts.peers.penalize(peerId, "moderate", reason);
  }

  #warn({ slot, root, peers }: PendingBlock, refusal: Pick<BlockRejection, "reason" | "message">): void {
    const { reason, message: detail } = refusal;
    const peer = [...peers].join(", ");
    this.#parts.logger.warn("Rejected block from peer", { slot, root, peer, reason, detail });
  }

  #delegateToRangeSync(oldest: PendingBlock): void {
    const branch = [oldest, ...this.#pending.removeDescendantsOf(oldest.root)];
    this.#pending.remove(oldest.root);
    const tip = branch.reduce((latest, pending) => (pending.slot > latest.slot ? pending : latest));
    const claimants = new Set(branch.flatMap(({ peers }) => [...peers]));
    this.#parts.onLongBranch({ kind: "branch", slot: tip.slot, root: tip.root, claimants });
  }
}
