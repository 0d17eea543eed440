import { BitArray } from "@chainsafe/ssz";
import { SYNC_COMMITTEE_SIZE, SYNC_COMMITTEE_SUBNET_COUNT, SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import { G2_POINT_AT_INFINITY } from "@lodestar/state-transition";
import type { altair, RootHex, Slot } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { copyMap } from "../../collections/copy-map.ts";
import { type AddOutcome, AggregateSet } from "./aggregate-set.ts";
import { type GivenSignature, type PooledSignature, sumBytes } from "./pooled-signature.ts";

interface SyncMessage {
  slot: Slot;
  beaconBlockRoot: RootHex;
  subcommitteeIndex: number;
  /** One of the validator's positions in the subcommittee. A message is added once per position. */
  indexInSubcommittee: number;
  signature: Uint8Array;
}

/** A contribution, signed or with a deferred signature. */
export type PooledContribution = Omit<altair.SyncCommitteeContribution, "signature"> & { signature: GivenSignature };

type Subcommittees = AggregateSet[];

export interface SyncCommitteePoolSnapshot {
  slots: Map<Slot, Map<RootHex, Subcommittees>>;
  lowestSlot: Slot;
}

/** Messages are included in the next slot's block; older slots serve late requests. */
const SLOTS_KEPT = 8;
/** Honest members sign one or two heads per slot. */
const MAX_ROOTS_PER_SLOT = 64;

/**
 * Validated sync committee messages and contributions by slot, block root and subcommittee. The limits only protect
 * memory from floods of valid messages.
 */
export class SyncCommitteePool {
  #slots = new Map<Slot, Map<RootHex, Subcommittees>>();
  #lowestSlot: Slot = 0;

  capture(): SyncCommitteePoolSnapshot {
    const slots = copyMap(this.#slots, (byRoot) => copyMap(byRoot, (sets) => sets.map((set) => set.copy())));
    return { slots, lowestSlot: this.#lowestSlot };
  }

  /** Replaces the contents of the pool. */
  restore({ slots, lowestSlot }: SyncCommitteePoolSnapshot): void {
    this.#slots = slots;
    this.#lowestSlot = lowestSlot;
  }

  addMessage({ slot, beaconBlockRoot, subcommitteeIndex, indexInSubcommittee, signature }: SyncMessage): AddOutcome {
    const subcommittee = this.#subcommitteesFor(slot, beaconBlockRoot)?.[subcommitteeIndex];
    return subcommittee?.addSingle(indexInSubcommittee, signature) ?? "known";
  }

  addContribution(contribution: PooledContribution): AddOutcome {
    const { slot, beaconBlockRoot, subcommitteeIndex, aggregationBits, signature } = contribution;
    const subcommittee = this.#subcommitteesFor(slot, toRootHex(beaconBlockRoot))?.[subcommitteeIndex];
    return subcommittee?.addAggregate({ bits: aggregationBits, signature }) ?? "known";
  }

  /** Returns the contribution with the most signers. */
  getContribution(
    subcommitteeIndex: number,
    slot: Slot,
    beaconBlockRoot: RootHex,
  ): altair.SyncCommitteeContribution | undefined {
    const best = this.#slots.get(slot)?.get(beaconBlockRoot)?.[subcommitteeIndex]?.best();
    return (
      best && {
        slot,
        beaconBlockRoot: fromHex(beaconBlockRoot),
        subcommitteeIndex,
        aggregationBits: best.bits,
        signature: best.signature,
      }
    );
  }

  /** Number of contributions that can be formed. */
  get size(): number {
    let size = 0;
    for (const byRoot of this.#slots.values()) {
      for (const subcommittees of byRoot.values()) {
        for (const { largestCount } of subcommittees) if (largestCount > 0) size++;
      }
    }
    return size;
  }

  /** Returns the best contribution for every subcommittee and root. */
  list(): altair.SyncCommitteeContribution[] {
    const contributions = [];
    for (const [slot, byRoot] of this.#slots) {
      for (const root of byRoot.keys()) {
        for (let subcommittee = 0; subcommittee < SYNC_COMMITTEE_SUBNET_COUNT; subcommittee++) {
          contributions.push(this.getContribution(subcommittee, slot, root));
        }
      }
    }
    return contributions.filter((contribution) => contribution !== undefined);
  }

  /**
   * Returns the sync aggregate for a block with parent `beaconBlockRoot`. `slot` is the slot before the block's. If
   * there are no participants, the signature is the point at infinity (altair, eth_fast_aggregate_verify).
   */
  getSyncAggregate(slot: Slot, beaconBlockRoot: RootHex): altair.SyncAggregate {
    const syncCommitteeBits = BitArray.fromBitLen(SYNC_COMMITTEE_SIZE);
    const signatures: PooledSignature[] = [];
    this.#slots
      .get(slot)
      ?.get(beaconBlockRoot)
      ?.forEach((subcommittee, subcommitteeIndex) => {
        const [best] = subcommittee.coverings();
        if (!best) return;
        const offset = subcommitteeIndex * SYNC_COMMITTEE_SUBNET_SIZE;
        for (const position of best.bits.getTrueBitIndexes()) syncCommitteeBits.set(offset + position, true);
        signatures.push(...best.signatures);
      });
    const syncCommitteeSignature = signatures.length === 0 ? G2_POINT_AT_INFINITY : sumBytes(signatures);
    return { syncCommitteeBits, syncCommitteeSignature };
  }

  prune(currentSlot: Slot): void {
    this.#lowestSlot = Math.max(0, currentSlot - SLOTS_KEPT + 1);
    for (const slot of this.#slots.keys()) {
      if (slot < this.#lowestSlot) this.#slots.delete(slot);
    }
  }

  #subcommitteesFor(slot: Slot, root: RootHex): Subcommittees | undefined {
    if (slot < this.#lowestSlot) return undefined;
    let byRoot = this.#slots.get(slot);
    if (!byRoot) {
      // Keep one more slot, because messages for a new slot can arrive before pruning.
      if (this.#slots.size > SLOTS_KEPT) this.#slots.delete(Math.min(...this.#slots.keys()));
      byRoot = new Map();
      this.#slots.set(slot, byRoot);
    }
    let subcommittees = byRoot.get(root);
    if (!subcommittees) {
      if (byRoot.size >= MAX_ROOTS_PER_SLOT) dropLeastSupported(byRoot);
      subcommittees = Array.from(
        { length: SYNC_COMMITTEE_SUBNET_COUNT },
        () => new AggregateSet(SYNC_COMMITTEE_SUBNET_SIZE),
      );
      byRoot.set(root, subcommittees);
    }
    return subcommittees;
  }
}

/** Evicts the root with the fewest signers; on a tie, the oldest one. */
function dropLeastSupported(byRoot: Map<RootHex, Subcommittees>): void {
  const support = (subcommittees: Subcommittees) => subcommittees.reduce((sum, set) => sum + set.largestCount, 0);
  let min: { root: RootHex; support: number } | undefined;
  for (const [root, subcommittees] of byRoot) {
    const signers = support(subcommittees);
    if (!min || signers < min.support) min = { root, support: signers };
  }
  if (min) byRoot.delete(min.root);
}
