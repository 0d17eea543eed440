import { NO_NODE } from "./proto-array.ts";

/** The latest message of each validator, by its index. */
export interface LatestMessages {
  /** The node voted for, or NO_NODE. */
  nodes: Int32Array;
  /** Target epoch plus one; zero is a validator never heard of. */
  epochs: Uint32Array;
  /** One for those that equivocated. */
  equivocating: Uint8Array;
}

/** All that `Votes` knows at a moment. */
export interface VotesMoment {
  applied: Int32Array<ArrayBuffer>;
  wanted: Int32Array<ArrayBuffer>;
  epochs: Uint32Array<ArrayBuffer>;
  equivocating: Uint8Array<ArrayBuffer>;
  moved: number[];
  balances: Uint16Array;
}

const EMPTY_BALANCES = new Uint16Array(0);

/**
 * The latest messages of all validators, 13 bytes a validator. A vote is kept twice: where its balance lies in the tree
 * now, and where the latest message wants it. The difference becomes deltas once a head is asked for.
 */
export class Votes {
  #applied = new Int32Array(0);
  #wanted = new Int32Array(0);
  /** Target epoch plus one; zero is a validator never heard of. */
  #epochs = new Uint32Array(0);
  #equivocating = new Uint8Array(0);
  #validators = 0;
  #moved: number[] = [];
  #balances: Uint16Array = EMPTY_BALANCES;

  /**
   * update_latest_messages of phase0/fork-choice.md: only a later target epoch replaces a validator's message, or any when
   * the known one is of an epoch that has not come, because the clock was set back.
   */
  record(validator: number, node: number, targetEpoch: number, currentEpoch = Number.POSITIVE_INFINITY): void {
    this.#makeRoomFor(validator);
    const known = this.#epochs[validator]! - 1;
    if (this.#equivocating[validator] === 1 || (targetEpoch <= known && known <= currentEpoch)) return;
    this.#epochs[validator] = targetEpoch + 1;
    this.#move(validator, node);
  }

  /** on_attester_slashing of phase0/fork-choice.md: the validator has no weight from now on, whatever it attests to. */
  markEquivocating(validator: number): void {
    this.#makeRoomFor(validator);
    this.#equivocating[validator] = 1;
    this.#move(validator, NO_NODE);
  }

  isEquivocating(validator: number): boolean {
    return this.#equivocating[validator] === 1;
  }

  /**
   * The change of the voting balance of each node since the last call, which was made with the balances before. With the
   * same array of balances only the votes that moved are visited, with another one all of them.
   */
  takeDeltas(nodeCount: number, balances: Uint16Array): Float64Array {
    const deltas = new Float64Array(nodeCount);
    if (balances === this.#balances) {
      for (const validator of this.#moved) this.#apply(validator, balances, deltas);
    } else {
      for (let validator = 0; validator < this.#validators; validator++) this.#apply(validator, balances, deltas);
      this.#balances = balances;
    }
    this.#moved = [];
    return deltas;
  }

  /** Follows a pruning. A vote for a removed block stays known by its epoch but lies nowhere. */
  remap(newIndexOf: Int32Array): void {
    for (let validator = 0; validator < this.#validators; validator++) {
      this.#applied[validator] = newIndexOf[this.#applied[validator]!] ?? NO_NODE;
      this.#wanted[validator] = newIndexOf[this.#wanted[validator]!] ?? NO_NODE;
    }
  }

  latestMessages(): LatestMessages {
    return {
      nodes: this.#wanted.slice(0, this.#validators),
      epochs: this.#epochs.slice(0, this.#validators),
      equivocating: this.#equivocating.slice(0, this.#validators),
    };
  }

  capture(): VotesMoment {
    return {
      applied: this.#applied.slice(0, this.#validators),
      wanted: this.#wanted.slice(0, this.#validators),
      epochs: this.#epochs.slice(0, this.#validators),
      equivocating: this.#equivocating.slice(0, this.#validators),
      moved: [...this.#moved],
      balances: this.#balances,
    };
  }

  /** Takes the moment over. */
  rewind({ applied, wanted, epochs, equivocating, moved, balances }: VotesMoment): void {
    this.#applied = applied;
    this.#wanted = wanted;
    this.#epochs = epochs;
    this.#equivocating = equivocating;
    this.#validators = applied.length;
    this.#moved = moved;
    this.#balances = balances;
  }

  /** Takes over messages of before; what is known already and is later stays. */
  restore({ nodes, epochs, equivocating }: LatestMessages): void {
    for (let validator = 0; validator < nodes.length; validator++) {
      if (equivocating[validator] === 1) this.markEquivocating(validator);
      else if (epochs[validator]! > 0) this.record(validator, nodes[validator]!, epochs[validator]! - 1);
    }
  }

  #apply(validator: number, balances: Uint16Array, deltas: Float64Array): void {
    const from = this.#applied[validator]!;
    const to = this.#wanted[validator]!;
    if (from !== NO_NODE) deltas[from]! -= this.#balances[validator] ?? 0;
    if (to !== NO_NODE) deltas[to]! += balances[validator] ?? 0;
    this.#applied[validator] = to;
  }

  #move(validator: number, node: number): void {
    this.#wanted[validator] = node;
    this.#moved.push(validator);
  }

  #makeRoomFor(validator: number): void {
    if (validator < this.#validators) return;
    this.#validators = validator + 1;
    if (validator < this.#applied.length) return;
    const capacity = Math.max(1024, 2 ** Math.ceil(Math.log2(validator + 1)));
    this.#applied = grown(this.#applied, new Int32Array(capacity).fill(NO_NODE));
    this.#wanted = grown(this.#wanted, new Int32Array(capacity).fill(NO_NODE));
    this.#epochs = grown(this.#epochs, new Uint32Array(capacity));
    this.#equivocating = grown(this.#equivocating, new Uint8Array(capacity));
  }
}

function grown<T extends Int32Array | Uint32Array | Uint8Array>(values: T, larger: T): T {
  larger.set(values);
  return larger;
}
