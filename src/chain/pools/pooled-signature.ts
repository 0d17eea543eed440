import { aggregateSignatures, Signature } from "@chainsafe/blst";

/** A signature by validators of this process, which is made only when somebody wants to see it. */
export interface DeferredSignature {
  sign(): Signature;
  /** Begins to make it elsewhere, if there is where, so that it is there when somebody wants it. */
  signAhead(): void;
  /** That of the signers of both as one; null when the other one is not over the same message. */
  joinedWith(other: DeferredSignature): DeferredSignature | null;
}

/** What a pool holds of a signature. */
export type PooledSignature = Signature | DeferredSignature;

/** What pools are given as a signature. */
export type GivenSignature = Uint8Array | DeferredSignature;

export function toPooled(given: GivenSignature): PooledSignature {
  return given instanceof Uint8Array ? Signature.fromBytes(given) : given;
}

/** The sum of one or more signatures over one message. What is not made yet is made together, at the price of one. */
export function addUp(signatures: readonly PooledSignature[]): Signature {
  const parts: Signature[] = [];
  const deferred: DeferredSignature[] = [];
  for (const signature of signatures) {
    if (signature instanceof Signature) parts.push(signature);
    else deferred.push(signature);
  }
  for (const signature of joined(deferred)) parts.push(signature.sign());
  return parts.length === 1 ? parts[0]! : aggregateSignatures(parts);
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
