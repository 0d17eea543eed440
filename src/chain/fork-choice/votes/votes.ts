import { mapVoteTarget, NO_NODE, TARGETS_PER_NODE } from "../tree/proto-array.ts";

/** Latest message of each validator, by index. */
export interface LatestMessages {
  /** `voteTarget` of each validator's vote, or NO_NODE. */
  targets: Int32Array;
  /** Slot plus one; zero for validators without a message. */
  slots: Uint32Array;
  /** 1 for equivocating validators. */
  equivocating: Uint8Array;
}

/** Snapshot of `Votes`. */
export interface VotesSnapshot {
  applied: Int32Array<ArrayBuffer>;
  latest: Int32Array<ArrayBuffer>;
  slots: Uint32Array<ArrayBuffer>;
  equivocating: Uint8Array<ArrayBuffer>;
  moved: number[];
  balances: Uint16Array;
}

const EMPTY_BALANCES = new Uint16Array(0);

/**
 * Latest messages of all validators, using 13 bytes each. Stores the target for which each vote is currently counted
 * and the target of the latest message. `takeDeltas` applies the differences during head selection.
 */
export class Votes {
  #applied = new Int32Array(0);
  #latest = new Int32Array(0);
  /** Slot plus one; zero for validators without a message. */
  #slots = new Uint32Array(0);
  #equivocating = new Uint8Array(0);
  #hasEquivocations = false;
  #validators = 0;
  #moved: number[] = [];
  #balances: Uint16Array = EMPTY_BALANCES;

  /**
   * update_latest_messages: only a later message replaces one. Messages from before gloas have the first slot of their
   * target epoch, so that any two of one epoch are equally late (phase0/fork-choice.md). Exception: after the clock was
   * set back, messages from future slots can always be replaced.
   */
  record(validator: number, target: number, slot: number, currentSlot = Number.POSITIVE_INFINITY): void {
    this.#makeRoomFor(validator);
    const recordedSlot = this.#slots[validator]! - 1;
    if (this.#equivocating[validator] === 1 || (slot <= recordedSlot && recordedSlot <= currentSlot)) return;
    this.#slots[validator] = slot + 1;
    this.#move(validator, target);
  }

  /** phase0/fork-choice.md, on_attester_slashing: the validator permanently loses its weight. */
  markEquivocating(validator: number): void {
    this.#makeRoomFor(validator);
    this.#equivocating[validator] = 1;
    this.#hasEquivocations = true;
    this.#move(validator, NO_NODE);
  }

  get hasEquivocations(): boolean {
    return this.#hasEquivocations;
  }

  isEquivocating(validator: number): boolean {
    return this.#equivocating[validator] === 1;
  }

  /** False if all changes would be zero. */
  hasDeltas(balances: Uint16Array): boolean {
    return this.#moved.length > 0 || balances !== this.#balances;
  }

  /**
   * Returns the change in voting balance for each vote target since the last call. Visits only moved votes if the balances
   * array is unchanged, otherwise all votes.
   */
  takeDeltas(nodeCount: number, balances: Uint16Array): Float64Array {
    const deltas = new Float64Array(nodeCount * TARGETS_PER_NODE);
    if (balances === this.#balances) {
      for (const validator of this.#moved) this.#apply(validator, balances, deltas);
    } else {
      for (let validator = 0; validator < this.#validators; validator++) this.#apply(validator, balances, deltas);
      this.#balances = balances;
    }
    this.#moved = [];
    return deltas;
  }

  /** Updates indices after pruning. A vote for a removed block keeps its slot but loses its target. */
  remap(newIndexOf: Int32Array): void {
    for (let validator = 0; validator < this.#validators; validator++) {
      this.#applied[validator] = mapVoteTarget(this.#applied[validator]!, newIndexOf);
      this.#latest[validator] = mapVoteTarget(this.#latest[validator]!, newIndexOf);
    }
  }

  /** Views of the latest messages, valid until the next change. */
  current(): LatestMessages {
    return {
      targets: this.#latest.subarray(0, this.#validators),
      slots: this.#slots.subarray(0, this.#validators),
      equivocating: this.#equivocating.subarray(0, this.#validators),
    };
  }

  /** Returns a copy. */
  latestMessages(): LatestMessages {
    return {
      targets: this.#latest.slice(0, this.#validators),
      slots: this.#slots.slice(0, this.#validators),
      equivocating: this.#equivocating.slice(0, this.#validators),
    };
  }

  capture(): VotesSnapshot {
    return {
      applied: this.#applied.slice(0, this.#validators),
      latest: this.#latest.slice(0, this.#validators),
      slots: this.#slots.slice(0, this.#validators),
      equivocating: this.#equivocating.slice(0, this.#validators),
      moved: [...this.#moved],
      balances: this.#balances,
    };
  }

  /** Restores a snapshot. */
  rewind({ applied, latest, slots, equivocating, moved, balances }: VotesSnapshot): void {
    this.#applied = applied;
    this.#latest = latest;
    this.#slots = slots;
    this.#equivocating = equivocating;
    this.#hasEquivocations = equivocating.includes(1);
    this.#validators = applied.length;
    this.#moved = moved;
    this.#balances = balances;
  }

  /** Adds messages stored before a restart. Does not replace later messages that are already recorded. */
  restore({ targets, slots, equivocating }: LatestMessages): void {
    for (let validator = 0; validator < targets.length; validator++) {
      if (equivocating[validator] === 1) this.markEquivocating(validator);
      else if (slots[validator]! > 0) this.record(validator, targets[validator]!, slots[validator]! - 1);
    }
  }

  #apply(validator: number, balances: Uint16Array, deltas: Float64Array): void {
    const from = this.#applied[validator]!;
    const to = this.#latest[validator]!;
    if (from !== NO_NODE) deltas[from]! -= this.#balances[validator] ?? 0;
    if (to !== NO_NODE) deltas[to]! += balances[validator] ?? 0;
    this.#applied[validator] = to;
  }

  #move(validator: number, target: number): void {
    this.#latest[validator] = target;
    this.#moved.push(validator);
  }

  #makeRoomFor(validator: number): void {
    if (validator < this.#validators) return;
    this.#validators = validator + 1;
    if (validator < this.#applied.length) return;
    const capacity = Math.max(1024, 2 ** Math.ceil(Math.log2(validator + 1)));
    this.#applied = grown(this.#applied, new Int32Array(capacity).fill(NO_NODE));
    this.#latest = grown(this.#latest, new Int32Array(capacity).fill(NO_NODE));
    this.#slots = grown(this.#slots, new Uint32Array(capacity));
    this.#equivocating = grown(this.#equivocating, new Uint8Array(capacity));
  }
}

function grown<T extends Int32Array | Uint32Array | Uint8Array>(values: T, larger: T): T {
  larger.set(values);
  return larger;
}
