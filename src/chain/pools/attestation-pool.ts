import { BitArray } from "@chainsafe/ssz";
import { type ForkName, isForkPostElectra, MAX_COMMITTEES_PER_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { Attestation, CommitteeIndex, phase0, RootHex, Slot } from "@lodestar/types";
import { copyMap } from "../../collections/copy-map.ts";
import { type AddOutcome, type Aggregate, AggregateSet } from "./aggregate-set.ts";
import type { GivenSignature } from "./pooled-signature.ts";

interface CommitteeAttestation {
  data: phase0.AttestationData;
  dataRoot: RootHex;
  committeeIndex: CommitteeIndex;
  committee: Uint32Array;
  /** Fork at the attestation's slot, which determines the attestation's type. */
  fork: ForkName;
}

interface SingleCommitteeAttestation extends CommitteeAttestation {
  /** Position of the attester in the committee. */
  position: number;
  signature: Uint8Array;
}

interface AggregatedCommitteeAttestation extends CommitteeAttestation {
  /** Contains one bit per committee member. */
  bits: BitArray;
  signature: GivenSignature;
}

/** Attestations by one committee with the same data. */
export interface AttestationGroup {
  readonly data: phase0.AttestationData;
  readonly committeeIndex: CommitteeIndex;
  readonly committee: Uint32Array;
  readonly fork: ForkName;
  readonly aggregates: AggregateSet;
}

type GroupsByCommittee = Map<CommitteeIndex, AttestationGroup>;

interface SlotGroups {
  byDataRoot: Map<RootHex, GroupsByCommittee>;
  count: number;
}

interface AttestationFilter {
  slot?: Slot | undefined;
  committeeIndex?: CommitteeIndex | undefined;
}

export interface AttestationPoolSnapshot {
  slots: Map<Slot, SlotGroups>;
  lowestSlot: Slot;
}

/** 32 different votes per committee; honest committees cast two or three. */
const MAX_GROUPS_PER_SLOT = MAX_COMMITTEES_PER_SLOT * 32;
/** Attestations can be included for two epochs, and new slots may arrive before the next pruning. */
const MAX_SLOTS = 3 * SLOTS_PER_EPOCH;

/**
 * Validated attestations, single and aggregated, by slot, data and committee (since Electra, the data does not include
 * the committee). The limits only protect memory from floods of valid attestations.
 */
export class AttestationPool {
  #slots = new Map<Slot, SlotGroups>();
  #lowestSlot: Slot = 0;

  capture(): AttestationPoolSnapshot {
    const copyOfGroup = (group: AttestationGroup) => ({ ...group, aggregates: group.aggregates.copy() });
    const slots = copyMap(this.#slots, ({ byDataRoot, count }) => ({
      byDataRoot: copyMap(byDataRoot, (byCommittee) => copyMap(byCommittee, copyOfGroup)),
      count,
    }));
    return { slots, lowestSlot: this.#lowestSlot };
  }

  /** Replaces the contents of the pool. */
  restore({ slots, lowestSlot }: AttestationPoolSnapshot): void {
    this.#slots = slots;
    this.#lowestSlot = lowestSlot;
  }

  addSingle(attestation: SingleCommitteeAttestation): AddOutcome {
    return this.#groupFor(attestation)?.aggregates.addSingle(attestation.position, attestation.signature) ?? "known";
  }

  addAggregate(attestation: AggregatedCommitteeAttestation): AddOutcome {
    return this.#groupFor(attestation)?.aggregates.addAggregate(attestation) ?? "known";
  }

  /**
   * Returns the aggregate with the most attesters. If no committee index is given, returns the best aggregate from any
   * committee (before Electra, each data root has only one committee).
   */
  getAggregate(slot: Slot, dataRoot: RootHex, committeeIndex?: CommitteeIndex): Attestation | undefined {
    const byCommittee = this.#slots.get(slot)?.byDataRoot.get(dataRoot);
    if (!byCommittee) return undefined;
    const group =
      committeeIndex === undefined
        ? [...byCommittee.values()].reduce((a, b) => (b.aggregates.largestCount > a.aggregates.largestCount ? b : a))
        : byCommittee.get(committeeIndex);
    const best = group?.aggregates.best();
    return group && best && toAttestation(group, best);
  }

  /** Returns all attestations, each in the type of its fork. */
  list(filter?: AttestationFilter): Attestation[] {
    return [...this.iterate(filter)];
  }

  /** Like `list`, but lazy: signatures are aggregated on demand. The pool may change during the iteration. */
  *iterate({ slot, committeeIndex }: AttestationFilter = {}): Generator<Attestation> {
    for (const each of slot === undefined ? this.slots() : [slot]) {
      for (const group of this.groupsAt(each).flat()) {
        if (committeeIndex !== undefined && group.committeeIndex !== committeeIndex) continue;
        for (const aggregate of group.aggregates.list()) yield toAttestation(group, aggregate);
      }
    }
  }

  /** Number of attestation groups. */
  get size(): number {
    let size = 0;
    for (const { count } of this.#slots.values()) size += count;
    return size;
  }

  /** Slots with attestations, in ascending order. */
  slots(): Slot[] {
    return [...this.#slots.keys()].sort((a, b) => a - b);
  }

  /** Returns the attestation groups of a slot, grouped by data and sorted by committee. */
  groupsAt(slot: Slot): AttestationGroup[][] {
    const slotGroups = this.#slots.get(slot);
    if (!slotGroups) return [];
    return [...slotGroups.byDataRoot.values()].map((byCommittee) =>
      [...byCommittee.values()].sort((a, b) => a.committeeIndex - b.committeeIndex),
    );
  }

  /**
   * Drops attestations that can no longer be included. Attestations from an epoch can be included until the end of the
   * next epoch (deneb, "Modified process_attestation", EIP-7045; earlier forks allow less).
   */
  prune(currentSlot: Slot): void {
    this.#lowestSlot = computeStartSlotAtEpoch(Math.max(0, computeEpochAtSlot(currentSlot) - 1));
    for (const slot of this.#slots.keys()) {
      if (slot < this.#lowestSlot) this.#slots.delete(slot);
    }
  }

  #groupFor(attestation: CommitteeAttestation): AttestationGroup | undefined {
    const { data, dataRoot, committeeIndex, committee, fork } = attestation;
    if (data.slot < this.#lowestSlot) return undefined;
    const slotGroups = this.#slotGroupsFor(data.slot);
    let byCommittee = slotGroups.byDataRoot.get(dataRoot);
    const existing = byCommittee?.get(committeeIndex);
    if (existing) return existing;
    if (slotGroups.count >= MAX_GROUPS_PER_SLOT) {
      dropLeastSupported(slotGroups);
      byCommittee = slotGroups.byDataRoot.get(dataRoot);
    }
    if (!byCommittee) {
      byCommittee = new Map();
      slotGroups.byDataRoot.set(dataRoot, byCommittee);
    }
    const group = { data, committeeIndex, committee, fork, aggregates: new AggregateSet(committee.length) };
    byCommittee.set(committeeIndex, group);
    slotGroups.count++;
    return group;
  }

  #slotGroupsFor(slot: Slot): SlotGroups {
    let slotGroups = this.#slots.get(slot);
    if (!slotGroups) {
      if (this.#slots.size >= MAX_SLOTS) this.#slots.delete(Math.min(...this.#slots.keys()));
      slotGroups = { byDataRoot: new Map(), count: 0 };
      this.#slots.set(slot, slotGroups);
    }
    return slotGroups;
  }
}

/** Evicts the group with the fewest attesters; on a tie, the oldest one. */
function dropLeastSupported(slotGroups: SlotGroups): void {
  let min: { dataRoot: RootHex; group: AttestationGroup } | undefined;
  for (const [dataRoot, byCommittee] of slotGroups.byDataRoot) {
    for (const group of byCommittee.values()) {
      if (!min || group.aggregates.largestCount < min.group.aggregates.largestCount) min = { dataRoot, group };
    }
  }
  if (!min) return;
  const byCommittee = slotGroups.byDataRoot.get(min.dataRoot)!;
  byCommittee.delete(min.group.committeeIndex);
  if (byCommittee.size === 0) slotGroups.byDataRoot.delete(min.dataRoot);
  slotGroups.count--;
}

function toAttestation({ data, committeeIndex, fork }: AttestationGroup, { bits, signature }: Aggregate): Attestation {
  const attestation = { aggregationBits: bits.clone(), data, signature };
  if (!isForkPostElectra(fork)) return attestation;
  return { ...attestation, committeeBits: BitArray.fromSingleBit(MAX_COMMITTEES_PER_SLOT, committeeIndex) };
}
