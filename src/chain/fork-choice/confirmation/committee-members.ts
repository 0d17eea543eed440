import type { SlotRange } from "./committee-weight.ts";
import type { VoteSupport } from "./vote-support.ts";

/** get_slot_committee: returns the committees of a slot of the current or the two previous epochs, on the head's chain. */
export type SlotCommittees = (slot: number) => Iterable<ArrayLike<number>>;

/** Members of committees that the rule asks for. Reads the committees of each slot once per purpose. */
export class CommitteeMembers {
  readonly #committeesAt: SlotCommittees;
  readonly #support: VoteSupport;
  readonly #equivocating = new Map<number, number[]>();

  constructor(committeesAt: SlotCommittees, support: VoteSupport) {
    this.#committeesAt = committeesAt;
    this.#support = support;
  }

  /** Equivocating members of the committees of the slots, each once. */
  equivocating({ start, end }: SlotRange): Set<number> {
    const members = new Set<number>();
    if (!this.#support.hasEquivocations) return members;
    for (let slot = start; slot <= end; slot++) {
      let ofSlot = this.#equivocating.get(slot);
      if (ofSlot === undefined) {
        ofSlot = this.#membersWhere(slot, (validator) => this.#support.isEquivocating(validator));
        this.#equivocating.set(slot, ofSlot);
      }
      for (const validator of ofSlot) members.add(validator);
    }
    return members;
  }

  /** Members of the committees of the slots whose latest message is for the block itself, each once. */
  votersFor(block: number, { start, end }: SlotRange): Set<number> {
    const members = new Set<number>();
    const isVoter = this.#support.votersFor(block);
    for (let slot = start; slot <= end; slot++) {
      for (const validator of this.#membersWhere(slot, isVoter)) members.add(validator);
    }
    return members;
  }

  #membersWhere(slot: number, matches: (validator: number) => boolean): number[] {
    const members: number[] = [];
    for (const committee of this.#committeesAt(slot)) {
      for (let position = 0; position < committee.length; position++) {
        const validator = committee[position]!;
        if (matches(validator)) members.push(validator);
      }
    }
    return members;
  }
}
