import { BitArray } from "@chainsafe/ssz";
import { areDisjoint, countBits, isSubset } from "./bit-sets.ts";
import { type GivenSignature, type PooledSignature, SignatureSum, sumBytes, toPooled } from "./pooled-signature.ts";

export type AddOutcome = "added" | "known";

export interface Aggregate {
  bits: BitArray;
  signature: Uint8Array;
}

interface HeldAggregate<HeldSignature extends PooledSignature = PooledSignature> {
  bits: BitArray;
  count: number;
  signature: HeldSignature;
}

/** Disjoint aggregates, summed on demand. */
export interface Covering {
  readonly bits: BitArray;
  readonly count: number;
  /** Signatures whose sum is the aggregate signature. */
  readonly signatures: readonly PooledSignature[];
}

/**
 * On average 16 aggregators are selected per committee (phase0/validator.md, "Aggregation selection"), so more than 8
 * different aggregates are of little use.
 */
const MAX_AGGREGATES = 8;

/**
 * All known signatures by one committee over one message: single signatures, summed into one aggregate, and received
 * aggregates. A signature cannot be removed from an aggregate, so only disjoint aggregates are summed. Callers verify
 * all signatures.
 */
export class AggregateSet {
  readonly bitLength: number;
  #singles: HeldAggregate<SignatureSum> | null = null;
  /** Largest first; none is a subset of another or of the single signatures. */
  #aggregates: HeldAggregate[] = [];

  constructor(bitLength: number) {
    this.bitLength = bitLength;
  }

  /** Returns an independent copy. */
  copy(): AggregateSet {
    const copy = new AggregateSet(this.bitLength);
    copy.#singles = this.#singles;
    copy.#aggregates = [...this.#aggregates];
    return copy;
  }

  /** Number of signers in the largest aggregate. */
  get largestCount(): number {
    return Math.max(this.#singles?.count ?? 0, this.#aggregates[0]?.count ?? 0);
  }

  addSingle(position: number, signature: Uint8Array): AddOutcome {
    if (this.#singles === null) {
      const bits = BitArray.fromSingleBit(this.bitLength, position);
      this.#singles = { bits, count: 1, signature: new SignatureSum(signature) };
    } else if (this.#singles.bits.get(position)) {
      return "known";
    } else {
      // Clone the bits, because callers may still hold the previous ones.
      const bits = this.#singles.bits.clone();
      bits.set(position, true);
      this.#singles = { bits, count: this.#singles.count + 1, signature: this.#singles.signature.with(signature) };
    }
    this.#dropSubsetsOf(this.#singles.bits);
    return "added";
  }

  /** Returns "known" if the aggregate adds nothing, or if the set is full of larger aggregates. */
  addAggregate({ bits, signature }: { bits: BitArray; signature: GivenSignature }): AddOutcome {
    const count = countBits(bits);
    if (count === 0 || this.#all().some((aggregate) => isSubset(bits, aggregate.bits))) return "known";
    this.#dropSubsetsOf(bits);
    if (this.#aggregates.length >= MAX_AGGREGATES) {
      if (this.#aggregates.at(-1)!.count >= count) return "known";
      this.#aggregates.pop();
    }
    this.#aggregates.push({ bits: bits.clone(), count, signature: toPooled(signature) });
    this.#aggregates.sort((a, b) => b.count - a.count);
    return "added";
  }

  /** Returns the received aggregates and the sum of the single signatures as an additional aggregate. */
  list(): Aggregate[] {
    return this.#all().map(({ bits, signature }) => ({ bits, signature: sumBytes([signature]) }));
  }

  /**
   * Returns candidate unions. Each consists of one aggregate and the largest other aggregates that are disjoint. Unions
   * are sorted from largest to smallest; none is a subset of another.
   */
  coverings(): Covering[] {
    const aggregates = this.#all();
    const coverings = aggregates.map((start) => {
      const parts = [start];
      const bits = start.bits.clone();
      let count = start.count;
      for (const candidate of aggregates) {
        if (candidate === start || !areDisjoint(bits, candidate.bits)) continue;
        parts.push(candidate);
        bits.mergeOrWith(candidate.bits);
        count += candidate.count;
      }
      return { bits, count, signatures: parts.map((part) => part.signature) };
    });
    coverings.sort((a, b) => b.count - a.count);
    return coverings.filter(
      (covering, index) => !coverings.slice(0, index).some((larger) => isSubset(covering.bits, larger.bits)),
    );
  }

  /** Returns the union with the most signers. */
  best(): Aggregate | undefined {
    const [best] = this.coverings();
    return best && { bits: best.bits, signature: sumBytes(best.signatures) };
  }

  #all(): HeldAggregate[] {
    if (this.#singles === null) return this.#aggregates;
    return [...this.#aggregates, this.#singles].sort((a, b) => b.count - a.count);
  }

  #dropSubsetsOf(bits: BitArray): void {
    this.#aggregates = this.#aggregates.filter((aggregate) => !isSubset(aggregate.bits, bits));
  }
}
