import type { BitArray } from "@chainsafe/ssz";
import { MAX_PAYLOAD_ATTESTATIONS, PTC_SIZE } from "@lodestar/params";
import { type gloas, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { copyMap } from "../../collections/copy-map.ts";
import { type AddOutcome, AggregateSet } from "./aggregate-set.ts";
import type { GivenSignature } from "./pooled-signature.ts";

/** A block includes attestations of the previous slot only. */
const SLOTS_KEPT = 3;
/** An honest committee attests to one block, or to two in case of an equivocation. */
const MAX_ROOTS_PER_SLOT = 8;

interface Group {
  data: gloas.PayloadAttestationData;
  aggregates: AggregateSet;
}

/** The payload attestations to a block, by data. There are four combinations of the two votes. */
type GroupsByData = Map<RootHex, Group>;

export type PayloadAttestationPoolSnapshot = ReturnType<PayloadAttestationPool["capture"]>;

/** Validated payload attestations (gloas/validator.md), by slot, block and data. */
export class PayloadAttestationPool {
  #slots = new Map<Slot, Map<RootHex, GroupsByData>>();
  #lowestSlot: Slot = 0;

  capture() {
    const copyOfGroup = ({ data, aggregates }: Group) => ({ data, aggregates: aggregates.copy() });
    const slots = copyMap(this.#slots, (byRoot) => copyMap(byRoot, (byData) => copyMap(byData, copyOfGroup)));
    return { slots, lowestSlot: this.#lowestSlot };
  }

  /** Replaces the contents of the pool. */
  restore({ slots, lowestSlot }: PayloadAttestationPoolSnapshot): void {
    this.#slots = slots;
    this.#lowestSlot = lowestSlot;
  }

  /** Adds the vote of one validator for each of its positions in the committee. */
  addMessage({ data, signature }: gloas.PayloadAttestationMessage, positions: readonly number[]): AddOutcome {
    const aggregates = this.#groupFor(data)?.aggregates;
    const outcomes = positions.map((position) => aggregates?.addSingle(position, signature) ?? "known");
    return outcomes.includes("added") ? "added" : "known";
  }

  addAggregate(aggregate: {
    data: gloas.PayloadAttestationData;
    bits: BitArray;
    signature: GivenSignature;
  }): AddOutcome {
    return this.#groupFor(aggregate.data)?.aggregates.addAggregate(aggregate) ?? "known";
  }

  /** Returns the attestations for a block on the parent: those of the slot before, the largest of each data first. */
  forBlock(slot: Slot, parentRoot: RootHex): gloas.PayloadAttestation[] {
    const groups = [
      ...(this.#slots
        .get(slot - 1)
        ?.get(parentRoot)
        ?.values() ?? []),
    ];
    return groups
      .sort((a, b) => b.aggregates.largestCount - a.aggregates.largestCount)
      .slice(0, MAX_PAYLOAD_ATTESTATIONS)
      .flatMap(toAttestation);
  }

  /** Returns the best aggregate of each slot, block and data. */
  list(slot?: Slot): gloas.PayloadAttestation[] {
    const slots = slot === undefined ? [...this.#slots.keys()].sort((a, b) => a - b) : [slot];
    return slots.flatMap((each) =>
      [...(this.#slots.get(each)?.values() ?? [])].flatMap((byData) => [...byData.values()].flatMap(toAttestation)),
    );
  }

  get size(): number {
    let size = 0;
    for (const byRoot of this.#slots.values()) for (const byData of byRoot.values()) size += byData.size;
    return size;
  }

  prune(currentSlot: Slot): void {
    this.#lowestSlot = Math.max(0, currentSlot - SLOTS_KEPT + 1);
    for (const slot of this.#slots.keys()) if (slot < this.#lowestSlot) this.#slots.delete(slot);
  }

  #groupFor(data: gloas.PayloadAttestationData): Group | undefined {
    const { slot } = data;
    if (slot < this.#lowestSlot) return undefined;
    const byRoot = this.#slots.get(slot) ?? new Map<RootHex, GroupsByData>();
    this.#slots.set(slot, byRoot);
    if (this.#slots.size > SLOTS_KEPT + 1) this.#slots.delete(Math.min(...this.#slots.keys()));
    const root = toRootHex(data.beaconBlockRoot);
    const byData: GroupsByData = byRoot.get(root) ?? new Map();
    byRoot.set(root, byData);
    if (byRoot.size > MAX_ROOTS_PER_SLOT) byRoot.delete(byRoot.keys().next().value!);
    const dataRoot = toRootHex(ssz.gloas.PayloadAttestationData.hashTreeRoot(data));
    const group = byData.get(dataRoot) ?? { data, aggregates: new AggregateSet(PTC_SIZE) };
    byData.set(dataRoot, group);
    return group;
  }
}

function toAttestation({ data, aggregates }: Group): gloas.PayloadAttestation[] {
  const best = aggregates.best();
  return best ? [{ aggregationBits: best.bits, data, signature: best.signature }] : [];
}
