import { getBlockProposerSignatureSet } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import { BadBlocks } from "../chain/import/bad-blocks.ts";
import { BlockRejection, isWaitingForEngine } from "../chain/import/block-rejection.ts";
import type { Logger } from "../log/logger.ts";
import type { UnknownBlocks } from "../network/gossip/block-handler.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { BlockLookups, type FoundBlocks } from "./block-lookups.ts";
import { NO_FAULT_REJECTIONS } from "./penalties.ts";
import { type PendingBlock, PendingBlocks } from "./pending-blocks.ts";
import { finalizedSlotOf, type SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

/** How many parents are fetched by their roots; a longer branch is fetched by ranges of slots. */
export const MAX_DEPTH = 32;

const PENDING_LIMITS = { count: 128, bytes: 64 * 2 ** 20, perPeer: 16, slots: 64 };

interface UnknownBlockSyncParts {
  chain: SyncChain;
  peers: SyncPeers;
  logger: Logger;
  slotsPerEpoch: number;
  /** Whether the node catches up by ranges just now; then what it lacks comes anyway. */
  isRangeSyncing(): boolean;
  /** A branch that is too long for this. */
  onLongBranch(branch: SyncTarget): void;
}

/** Fetches what gossip refers to and this node lacks, and imports it with what waited for it, parents first. */
export class UnknownBlockSync implements UnknownBlocks {
  readonly #parts: UnknownBlockSyncParts;
  readonly #pending: PendingBlocks;
  readonly #lookups: BlockLookups;
  /** Blocks that left the chain before finality, and those that build on them. */
  readonly #strays = new BadBlocks();
  readonly #importing = new Map<RootHex, Promise<void>>();
  #stop: (() => void)[] = [];

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
    this.#stop.push(
      chain.events.on("block", ({ root }) => this.#importChildrenOf(root)),
      chain.clock.onSlot((slot) => this.#onSlot(slot)),
    );
  }

  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    await this.#lookups.close();
    await Promise.all(this.#importing.values());
  }

  onUnknownParent(signed: SignedBeaconBlock, peerId: string): void {
    const { chain } = this.#parts;
    const { slot } = signed.message;
    if (slot <= this.#finalizedSlot || slot > chain.clock.currentSlot + 1) return;
    // What comes in the last moments of catching up is told once only; its parents are brought by the range.
    const isRangeSyncing = this.#parts.isRangeSyncing();
    if (isRangeSyncing ? slot > chain.head.slot + MAX_DEPTH : this.#isFarAhead(slot, peerId)) return;
    if (!this.#pending.hasRoomFor(peerId)) return;
    const root = blockRoot(chain.config, signed.message);
    if (chain.forkChoice.has(root) || this.#importing.has(root)) return;
    const held = this.#pending.add(signed, { root, peerId, isAsked: false, clock: chain.clock });
    if (held && (!isRangeSyncing || chain.forkChoice.has(held.parentRoot))) this.#proceed(held);
  }

  onUnknownBlock(root: RootHex, peerId: string): void {
    if (this.#parts.isRangeSyncing()) return;
    if (this.#memoryOf(root)) {
      this.#parts.peers.penalize(peerId, "moderate", "refers to an invalid block");
      return;
    }
    this.#seek(root, [peerId]);
  }

  /** What was held while ranges were fetched, or found no room among the lookups before, gets its turn. */
  resume(): void {
    if (this.#parts.isRangeSyncing()) return;
    for (const held of this.#pending.oldest()) this.#proceed(held);
  }

  #onSlot(slot: Slot): void {
    this.#pending.prune(this.#finalizedSlot, slot);
    this.resume();
  }

  get #finalizedSlot(): Slot {
    return finalizedSlotOf(this.#parts.chain, this.#parts.slotsPerEpoch);
  }

  /** Then our peers' statuses are out of date, and with new ones it is for range sync to catch up. */
  #isFarAhead(slot: Slot, peerId: string): boolean {
    const { chain, peers } = this.#parts;
    if (slot <= chain.head.slot + MAX_DEPTH) return false;
    if (this.#lookups.mayBother(peerId)) peers.refreshStatus(peerId);
    return true;
  }

  /** Whether the block is signed by its proposer, as far as can be told: blocks that are missing here may have added that validator. */
  async #isSigned(signed: SignedBeaconBlock): Promise<boolean> {
    const { config, validation } = this.#parts.chain;
    const { proposerIndex } = signed.message;
    if (proposerIndex >= validation.states.head.validators.length) return Number.isSafeInteger(proposerIndex);
    return validation.bls.verify([getBlockProposerSignatureSet(config, signed)]);
  }

  /** Has the block fetched, with those before it where so many are wanted. */
  #seek(root: RootHex, peerIds: Iterable<string>, count = 1): void {
    const { chain } = this.#parts;
    // The chain has the block when its execution engine has had its say and its data is here, and announces it then.
    if (chain.forkChoice.has(root) || this.#importing.has(root)) return;
    if (chain.isWaitingForEngine(root) || chain.isWaitingForData(root)) return;
    if (chain.forkChoice.isInvalid(root)) {
      this.#pending.removeDescendantsOf(root);
      return;
    }
    const held = this.#pending.get(root);
    if (!held) this.#lookups.seek(root, peerIds, count);
    else if (!this.#lookups.isSought(held.parentRoot)) this.#proceed(held);
  }

  #onFound({ blocks, root: sought, giver, seekers }: FoundBlocks): void {
    const { chain } = this.#parts;
    let oldest: PendingBlock | undefined;
    for (const signed of blocks) {
      const { slot } = signed.message;
      const root = oldest?.parentRoot ?? sought;
      if (chain.forkChoice.has(root) || this.#memoryOf(root)) break;
      if (slot <= this.#finalizedSlot) {
        this.#condemn(root, seekers, "is on a branch that left the chain before finality", this.#strays);
        return;
      }
      oldest = this.#isFarAhead(slot, giver)
        ? undefined
        : this.#pending.add(signed, { root, peerId: giver, isAsked: true, clock: chain.clock });
      if (!oldest) {
        this.#pending.removeDescendantsOf(root);
        return;
      }
    }
    if (oldest) this.#proceed(oldest);
    else this.#importChildrenOf(sought);
  }

  /** Does whatever comes next for a block that is held. */
  #proceed(held: PendingBlock): void {
    const { root, parentRoot, peers } = held;
    const waiting = this.#pending.descendantsOf(root).length;
    const memory = this.#memoryOf(parentRoot);
    if (this.#parts.chain.forkChoice.has(parentRoot)) {
      void this.#import(root);
    } else if (memory) {
      this.#pending.remove(root);
      this.#warn(held, { reason: "invalid-parent", message: `Its parent ${parentRoot} is not valid.` });
      this.#condemn(root, peers, "builds on an invalid block", memory);
    } else if (waiting >= MAX_DEPTH) {
      this.#handOver(held);
    } else {
      // Mostly one is missing; the more there turn out to be, the more are asked for at once.
      this.#seek(parentRoot, peers, Math.min(1 + waiting, MAX_DEPTH - waiting));
    }
  }

  /** The block, and then what waited for it. */
  async #import(root: RootHex): Promise<void> {
    const held = this.#pending.remove(root);
    if (held === undefined) return;
    const importing = this.#importHeld(held);
    this.#importing.set(root, importing);
    await importing;
    this.#importing.delete(root);
    this.#importChildrenOf(root);
  }

  async #importHeld(held: PendingBlock): Promise<void> {
    const { chain, logger } = this.#parts;
    const { root, signed, peers, slot, arrivedAt, isAsked } = held;
    try {
      await chain.importBlock(signed, { arrivedAt, waitsForData: false });
      logger.debug("A missing block was fetched", { slot, root });
    } catch (error) {
      if (error instanceof BlockRejection && !NO_FAULT_REJECTIONS.has(error.reason)) {
        this.#warn(held, error);
        // Gossip is passed on before the state transition, but blocks that are given by root are of the peer's own chain.
        const severity = isAsked ? "severe" : "moderate";
        for (const peerId of peers) this.#parts.peers.penalize(peerId, severity, `invalid block: ${error.reason}`);
        const memory = this.#memoryOf(root);
        if (memory) this.#condemn(root, [], "builds on an invalid block", memory);
        // The chain does not hold it against the root: the same block may still come rightly signed.
        else this.#pending.removeDescendantsOf(root);
        return;
      }
      if (error instanceof BlockRejection && (isWaitingForEngine(error) || error.reason === "data-unavailable")) return;
      if (error instanceof BlockRejection && error.reason === "invalid-payload") this.#warn(held, error);
      if (!(error instanceof BlockRejection))
        logger.error("A fetched block could not be imported", { slot, root, error });
      this.#pending.removeDescendantsOf(root);
    }
  }

  #importChildrenOf(root: RootHex): void {
    if (!this.#parts.chain.forkChoice.has(root)) return;
    for (const child of this.#pending.childrenOf(root)) void this.#import(child.root);
  }

  /** Where the block is remembered as one that is not to be taken, if it is. */
  #memoryOf(root: RootHex): Pick<BadBlocks, "add"> | undefined {
    const { invalidBlocks } = this.#parts.chain.validation;
    return [invalidBlocks, this.#strays].find((memory) => memory.has(root));
  }

  /** Nothing on this block will ever be taken. */
  #condemn(root: RootHex, culprits: Iterable<string>, reason: string, memory: Pick<BadBlocks, "add">): void {
    const descendants = this.#pending.removeDescendantsOf(root);
    for (const held of descendants) this.#warn(held, { reason: "invalid-parent", message: `It ${reason}.` });
    for (const bad of [root, ...descendants.map((held) => held.root)]) memory.add(bad);
    const senders = new Set([...culprits, ...descendants.flatMap(({ peers }) => [...peers])]);
    for (const peerId of senders) this.#parts.peers.penalize(peerId, "moderate", reason);
  }

  #warn({ slot, root, peers }: PendingBlock, refusal: Pick<BlockRejection, "reason" | "message">): void {
    const { reason, message: detail } = refusal;
    const peer = [...peers].join(", ");
    this.#parts.logger.warn("A block of a peer is refused", { slot, root, peer, reason, detail });
  }

  #handOver(oldest: PendingBlock): void {
    const branch = [oldest, ...this.#pending.removeDescendantsOf(oldest.root)];
    this.#pending.remove(oldest.root);
    const tip = branch.reduce((latest, held) => (held.slot > latest.slot ? held : latest));
    const claimants = new Set(branch.flatMap(({ peers }) => [...peers]));
    this.#parts.onLongBranch({ kind: "branch", slot: tip.slot, root: tip.root, claimants });
  }
}
