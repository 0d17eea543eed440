import { BitArray } from "@chainsafe/ssz";
import { SYNC_COMMITTEE_SIZE, SYNC_COMMITTEE_SUBNET_COUNT, SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import { G2_POINT_AT_INFINITY } from "@lodestar/state-transition";
import type { altair, RootHex, Slot } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { copyOfMap } from "../copy-of-map.ts";
import { type AddOutcome, AggregateSet } from "./aggregate-set.ts";
import { type GivenSignature, type PooledSignature, sumBytes } from "./pooled-signature.ts";

interface SyncMessage {
  slot: Slot;
  beaconBlockRoot: RootHex;
  subcommitteeIndex: number;
  /** A validator that sits in several places of a subcommittee signs for each of them: add the message for each. */
  indexInSubcommittee: number;
  signature: Uint8Array;
}

/** A contribution, signed or by those who will sign it when it is wanted. */
export type PooledContribution = Omit<altair.SyncCommitteeContribution, "signature"> & { signature: GivenSignature };

type Subcommittees = AggregateSet[];

export interface SyncCommitteePoolMoment {
  slots: Map<Slot, Map<RootHex, Subcommittees>>;
  lowestSlot: Slot;
}

/** A message is for the block of the next slot; a few more slots serve those who ask late. */
const SLOTS_KEPT = 8;
/** Honest members sign one or two different heads in a slot. */
const MAX_ROOTS_PER_SLOT = 64;

/**
 * Sync committee messages and contributions, by slot, block root and subcommittee. Whatever is put in was validated
 * before; the pool's own limits only keep a flood of valid messages from filling memory.
 */
export class SyncCommitteePool {
  #slots = new Map<Slot, Map<RootHex, Subcommittees>>();
  #lowestSlot: Slot = 0;

  capture(): SyncCommitteePoolMoment {
    const slots = copyOfMap(this.#slots, (byRoot) => copyOfMap(byRoot, (sets) => sets.map((set) => set.copy())));
    return { slots, lowestSlot: this.#lowestSlot };
  }

  /** Takes the moment over. */
  restore({ slots, lowestSlot }: SyncCommitteePoolMoment): void {
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

  /** The contribution with the most signers that can be made of what is known. */
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

  /** How many contributions can be made of what is known. */
  get size(): number {
    let size = 0;
    for (const byRoot of this.#slots.values()) {
      for (const subcommittees of byRoot.values()) {
        for (const { largestCount } of subcommittees) if (largestCount > 0) size++;
      }
    }
    return size;
  }

  /** The best contribution of every subcommittee for every root. */
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
   * For a block whose parent is `beaconBlockRoot`, with `slot` the slot before the block's own. Nobody's participation
   * is signed with the point at infinity (altair, "eth_fast_aggregate_verify").
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
      // One more than is kept: the messages of a new slot may come before the pruning for it.
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

/** A root that few sign gives way first, the oldest of them first. */
function dropLeastSupported(byRoot: Map<RootHex, Subcommittees>): void {
  const support = (subcommittees: Subcommittees) => subcommittees.reduce((sum, set) => sum + set.largestCount, 0);
  let least: { root: RootHex; support: number } | undefined;
  for (const [root, subcommittees] of byRoot) {
    const signers = support(subcommittees);
    if (!least || signers < least.support) least = { root, support: signers };
  }
  if (least) byRoot.delete(least.root);
}
