import { aggregateSerializedSignatures, aggregateSignatures, type Signature } from "@chainsafe/blst";

/** A signature by in-process validators, created on demand. */
export interface DeferredSignature {
  sign(): Signature;
  /** Starts signing in another thread, if there is one. */
  signAhead(): void;
  /** Combines the signers of both signatures. Returns null if the messages differ. */
  joinedWith(other: DeferredSignature): DeferredSignature | null;
}

/**
 * Lazy sum of signatures over one message. Decompression is the most expensive step, and most sums are never needed,
 * because a larger aggregate replaces them. Decompresses signatures on demand, each only once.
 */
export class SignatureSum {
  readonly #latest: Uint8Array;
  /** Sum of all earlier signatures; null if there are none or if the total is already computed. */
  #before: SignatureSum | null;
  #sum: Signature | undefined;

  constructor(latest: Uint8Array, before: SignatureSum | null = null) {
    this.#latest = latest;
    this.#before = before;
  }

  /** Returns a new sum with one more signature. */
  with(signature: Uint8Array): SignatureSum {
    return new SignatureSum(signature, this);
  }

  get(): Signature {
    if (this.#sum) return this.#sum;
    const compressed: Uint8Array[] = [];
    let knownSum: Signature | undefined;
    for (let part: SignatureSum | null = this; part && !knownSum; part = part.#before) {
      knownSum = part.#sum;
      if (!knownSum) compressed.push(part.#latest);
    }
    const restSum = aggregateSerializedSignatures(compressed);
    this.#sum = knownSum ? aggregateSignatures([knownSum, restSum]) : restSum;
    this.#before = null;
    return this.#sum;
  }

  toBytes(): Uint8Array {
    return this.#before || this.#sum ? this.get().toBytes() : this.#latest;
  }
}

/** A signature as stored in a pool. */
export type PooledSignature = SignatureSum | DeferredSignature;

/** A signature as passed to a pool. */
export type GivenSignature = Uint8Array | DeferredSignature;

export function toPooled(signature: GivenSignature): PooledSignature {
  return signature instanceof Uint8Array ? new SignatureSum(signature) : signature;
}

/** Sums signatures over one message. Deferred signatures are combined and signed once. */
export function sumSignatures(signatures: readonly PooledSignature[]): Signature {
  const parts: Signature[] = [];
  const deferred: DeferredSignature[] = [];
  for (const signature of signatures) {
    if (signature instanceof SignatureSum) parts.push(signature.get());
    else deferred.push(signature);
  }
  for (const signature of joined(deferred)) parts.push(signature.sign());
  return parts.length === 1 ? parts[0]! : aggregateSignatures(parts);
}

/** Returns the serialized sum. A single received signature is returned unchanged. */
export function sumBytes(signatures: readonly PooledSignature[]): Uint8Array {
  const [only, ...others] = signatures;
  return only instanceof SignatureSum && others.length === 0 ? only.toBytes() : sumSignatures(signatures).toBytes();
}

/** Starts signing the deferred signatures that `sumSignatures` will need, combined by message. */
export function signAhead(signatures: readonly DeferredSignature[]): void {
  for (const signature of joined(signatures)) signature.signAhead();
}

/** Combines deferred signatures by message. */
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
