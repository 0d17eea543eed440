import {
  aggregateWithRandomness,
  type PublicKey,
  Signature,
  type SignatureSet,
  verifyMultipleAggregateSignatures,
} from "@chainsafe/blst";

/** A signature with its message and (aggregated) public key. */
export interface KeyedSignature {
  message: Uint8Array;
  pubkey: PublicKey;
  signature: Uint8Array;
}

/** Compressed G2 point. */
export const SIGNATURE_LENGTH = 96;

/**
 * Returns true if all signatures are valid. Signatures over the same message are randomized and summed to share one
 * pairing, which reduces the cost of a committee's attestations to a third.
 */
export function verifyBatch(sets: readonly KeyedSignature[]): boolean {
  if (sets.length === 0) return true;
  try {
    return verifyMultipleAggregateSignatures(groupByMessage(sets).map(toSignatureSet));
  } catch {
    // The library throws for invalid points and for the point at infinity.
    return false;
  }
}

/**
 * Returns a verdict per signature. Verifies the signatures as one batch; if that fails, finds the invalid ones by
 * bisection.
 */
export function verifyEachInBatch(sets: readonly KeyedSignature[]): boolean[] {
  if (verifyBatch(sets)) return sets.map(() => true);
  // Malformed signatures fail every batch, so they are ruled out first.
  const verdicts = sets.map(isWellFormed);
  const wellFormed = sets.flatMap((set, index) => (verdicts[index] ? [{ set, index }] : []));
  const markBad = (candidates: typeof wellFormed): void => {
    if (candidates.length === 1) {
      verdicts[candidates[0]!.index] = false;
      return;
    }
    const middle = candidates.length >> 1;
    const left = candidates.slice(0, middle);
    const right = candidates.slice(middle);
    const leftIsGood = verifyBatch(left.map(({ set }) => set));
    if (!leftIsGood) markBad(left);
    // A batch of valid signatures never fails, so if the left half is valid, the fault is in the right half.
    if (leftIsGood || !verifyBatch(right.map(({ set }) => set))) markBad(right);
  };
  const someAreMalformed = wellFormed.length < sets.length;
  if (!someAreMalformed || !verifyBatch(wellFormed.map(({ set }) => set))) markBad(wellFormed);
  return verdicts;
}

function isWellFormed({ signature }: KeyedSignature): boolean {
  try {
    Signature.fromBytes(signature, true);
    return signature.length === SIGNATURE_LENGTH;
  } catch {
    return false;
  }
}

function groupByMessage(sets: readonly KeyedSignature[]): KeyedSignature[][] {
  const groups = new Map<string, KeyedSignature[]>();
  for (const set of sets) {
    const key = Buffer.from(set.message.buffer, set.message.byteOffset, set.message.length).toString("latin1");
    const group = groups.get(key);
    if (group) group.push(set);
    else groups.set(key, [set]);
  }
  return [...groups.values()];
}

function toSignatureSet(group: KeyedSignature[]): SignatureSet {
  const first = group[0]!;
  if (group.length === 1) {
    return { msg: first.message, pk: first.pubkey, sig: Signature.fromBytes(first.signature, true) };
  }
  const blinded = aggregateWithRandomness(group.map(({ pubkey, signature }) => ({ pk: pubkey, sig: signature })));
  return { msg: first.message, pk: blinded.pk, sig: blinded.sig };
}
