import { ATTESTATION_SUBNET_COUNT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CommitteeIndex, Slot } from "@lodestar/types";
import { copyOfMap } from "../copy-of-map.ts";

/** A committee of a slot in which a validator of some client will act. */
export interface CommitteeInterest {
  slot: Slot;
  committeeIndex: CommitteeIndex;
  /** How many committees each slot of the epoch has. */
  committeesAtSlot: number;
  isAggregator: boolean;
}

interface CommitteeSubscription {
  slot: Slot;
  committeeIndex: CommitteeIndex;
  subnet: number;
  /** Whether all of the committee's attestations have to be collected; otherwise the node only has to reach the subnet. */
  isAggregator: boolean;
}

/** An interest is dropped when its slot is this far in the past: attestations and aggregates of a slot still come in the next. */
const SLOTS_KEPT_AFTER = 1;

/** The committees that clients of this node take part in, until their slots have passed. The network reads them. */
export class CommitteeSubscriptions {
  #slots = new Map<Slot, Map<CommitteeIndex, CommitteeSubscription>>();
  readonly #listeners = new Set<() => void>();

  /** Calls the listener whenever an interest was added. Returns the function that ends it. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capture(): Map<Slot, Map<CommitteeIndex, CommitteeSubscription>> {
    return copyOfMap(this.#slots, (ofSlot) => new Map(ofSlot));
  }

  /** Takes them over, instead of all that there are. */
  restore(slots: Map<Slot, Map<CommitteeIndex, CommitteeSubscription>>): void {
    this.#slots = slots;
  }

  /** Two validators may sit in one committee: one of them being an aggregator makes it worth collecting. */
  add({ slot, committeeIndex, committeesAtSlot, isAggregator }: CommitteeInterest): void {
    let ofSlot = this.#slots.get(slot);
    if (!ofSlot) {
      ofSlot = new Map();
      this.#slots.set(slot, ofSlot);
    }
    const known = ofSlot.get(committeeIndex);
    ofSlot.set(committeeIndex, {
      slot,
      committeeIndex,
      subnet: attestationSubnet(committeesAtSlot, slot, committeeIndex),
      isAggregator: isAggregator || known?.isAggregator === true,
    });
    for (const listener of this.#listeners) listener();
  }

  /** By slot, then by committee. */
  list(): CommitteeSubscription[] {
    return [...this.#slots.values()]
      .flatMap((ofSlot) => [...ofSlot.values()])
      .sort((a, b) => a.slot - b.slot || a.committeeIndex - b.committeeIndex);
  }

  prune(currentSlot: Slot): void {
    for (const slot of this.#slots.keys()) {
      if (slot + SLOTS_KEPT_AFTER < currentSlot) this.#slots.delete(slot);
    }
  }
}

/** compute_subnet_for_attestation of phase0/validator.md: the committees of an epoch go round the subnets in turn. */
export function attestationSubnet(committeesPerSlot: number, slot: Slot, committeeIndex: CommitteeIndex): number {
  const committeesSinceEpochStart = committeesPerSlot * (slot % SLOTS_PER_EPOCH);
  return (committeesSinceEpochStart + committeeIndex) % ATTESTATION_SUBNET_COUNT;
}
