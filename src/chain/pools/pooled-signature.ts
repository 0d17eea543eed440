import { aggregateSerializedSignatures, aggregateSignatures, type Signature } from "@chainsafe/blst";

/** A signature by validators of this process, which is made only when somebody wants to see it. */
export interface DeferredSignature {
  sign(): Signature;
  /** Begins to make it elsewhere, if there is where, so that it is there when somebody wants it. */
  signAhead(): void;
  /** That of the signers of both as one; null when the other one is not over the same message. */
  joinedWith(other: DeferredSignature): DeferredSignature | null;
}

/**
 * One or more signatures over one message, as they came. Most are never seen again, because a larger aggregate makes them needless,
 * and to decompress one takes longer than all else that a pool does with it. So they are decompressed when somebody wants
 * their sum, all of them at once, and none of them twice.
 */
export class SignatureSum {
  readonly #latest: Uint8Array;
  /** The sum of those before the latest; null when there are none, or when the whole sum is known. */
  #before: SignatureSum | null;
  #sum: Signature | undefined;

  constructor(latest: Uint8Array, before: SignatureSum | null = null) {
    this.#latest = latest;
    this.#before = before;
  }

  /** The sum of these and one more; this one stays what it is. */
  with(signature: Uint8Array): SignatureSum {
    return new SignatureSum(signature, this);
  }

  get(): Signature {
    if (this.#sum) return this.#sum;
    const compressed: Uint8Array[] = [];
    let known: Signature | undefined;
    for (let part: SignatureSum | null = this; part && !known; part = part.#before) {
      known = part.#sum;
      if (!known) compressed.push(part.#latest);
    }
    const rest = aggregateSerializedSignatures(compressed);
    this.#sum = known ? aggregateSignatures([known, rest]) : rest;
    this.#before = null;
    return this.#sum;
  }

  toBytes(): Uint8Array {
    return this.#before || this.#sum ? this.get().toBytes() : this.#latest;
  }
}

/** What a pool holds of a signature. */
export type PooledSignature = SignatureSum | DeferredSignature;

/** What pools are given as a signature. */
export type GivenSignature = Uint8Array | DeferredSignature;

export function toPooled(given: GivenSignature): PooledSignature {
  return given instanceof Uint8Array ? new SignatureSum(given) : given;
}

/** The sum of one or more signatures over one message. What is not made yet is made together, at the price of one. */
export function addUp(signatures: readonly PooledSignature[]): Signature {
  const parts: Signature[] = [];
  const deferred: DeferredSignature[] = [];
  for (const signature of signatures) {
    if (signature instanceof SignatureSum) parts.push(signature.get());
    else deferred.push(signature);
  }
  for (const signature of joined(deferred)) parts.push(signature.sign());
  return parts.length === 1 ? parts[0]! : aggregateSignatures(parts);
}

/** The sum as it is sent. One that came as such is sent as it came. */
export function sumBytes(signatures: readonly PooledSignature[]): Uint8Array {
  const [only, ...others] = signatures;
  return only instanceof SignatureSum && others.length === 0 ? only.toBytes() : addUp(signatures).toBytes();
}

/** Begins with what `addUp` will have to make of signatures, those over each message added up. */
export function signAhead(signatures: readonly DeferredSignature[]): void {
  for (const signature of joined(signatures)) signature.signAhead();
}

/** One for each message. */
function joined(signatures: readonly DeferredSignature[]): DeferredSignature[] {
  const ofMessages: DeferredSignature[] = [];
  for (const signature of signatures) join(ofMessages, signature);
  return ofMessages;
}

function join(ofMessages: DeferredSignature[], signature: DeferredSignature): void {
  for (const [index, known] of ofMessages.entries()) {
    const both = known.joinedWith(signature);
    if (both === null) continue;
    ofMessages[index] = both;
    return;
  }
  ofMessages.push(signature);
}
