import { ATTESTATION_SUBNET_COUNT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CommitteeIndex, Slot } from "@lodestar/types";
import { copyMap } from "../../collections/copy-map.ts";

/** A committee duty reported by a validator client for one of its validators. */
export interface CommitteeInterest {
  slot: Slot;
  committeeIndex: CommitteeIndex;
  /** Committees per slot in the epoch. */
  committeesAtSlot: number;
  isAggregator: boolean;
}

interface CommitteeSubscription {
  slot: Slot;
  committeeIndex: CommitteeIndex;
  subnet: number;
  /**
   * True if the subnet must be joined: aggregators need all attestations from the committee, while other validators
   * only need to reach the subnet.
   */
  isAggregator: boolean;
}

/** Attestations and aggregates for a slot still arrive in the next slot. */
const SLOTS_KEPT_AFTER = 1;

/** Committee subscriptions from validator clients, kept until their slots have passed. Read by the network. */
export class CommitteeSubscriptions {
  #slots = new Map<Slot, Map<CommitteeIndex, CommitteeSubscription>>();
  readonly #listeners = new Set<() => void>();

  /** Calls the listener when a subscription is added. Returns an unsubscribe function. */
  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capture(): Map<Slot, Map<CommitteeIndex, CommitteeSubscription>> {
    return copyMap(this.#slots, (ofSlot) => new Map(ofSlot));
  }

  /** Replaces all subscriptions. */
  restore(slots: Map<Slot, Map<CommitteeIndex, CommitteeSubscription>>): void {
    this.#slots = slots;
  }

  /** Adds a subscription, or merges it with an existing one for the committee. */
  add({ slot, committeeIndex, committeesAtSlot, isAggregator }: CommitteeInterest): void {
    let ofSlot = this.#slots.get(slot);
    if (!ofSlot) {
      ofSlot = new Map();
      this.#slots.set(slot, ofSlot);
    }
    const existing = ofSlot.get(committeeIndex);
    ofSlot.set(committeeIndex, {
      slot,
      committeeIndex,
      subnet: attestationSubnet(committeesAtSlot, slot, committeeIndex),
      isAggregator: isAggregator || existing?.isAggregator === true,
    });
    for (const listener of this.#listeners) listener();
  }

  /** Sorted by slot and committee. */
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

/** phase0/validator.md, compute_subnet_for_attestation. */
export function attestationSubnet(committeesPerSlot: number, slot: Slot, committeeIndex: CommitteeIndex): number {
  const committeesSinceEpochStart = committeesPerSlot * (slot % SLOTS_PER_EPOCH);
  return (committeesSinceEpochStart + committeeIndex) % ATTESTATION_SUBNET_COUNT;
}
