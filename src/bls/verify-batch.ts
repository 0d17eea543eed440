import {
  aggregateWithRandomness,
  type PublicKey,
  Signature,
  type SignatureSet,
  verifyMultipleAggregateSignatures,
} from "@chainsafe/blst";

/** A signature, still as received, beside the message and the one (aggregated) key it has to fit. */
export interface KeyedSignature {
  message: Uint8Array;
  pubkey: PublicKey;
  signature: Uint8Array;
}

/** Compressed G2 points; anything else is not a signature of the beacon chain. */
export const SIGNATURE_LENGTH = 96;

/**
 * Whether every signature is good. Signatures over the same message are blinded and summed first, so that they share
 * one pairing: attestations of one committee cost a third of what they would cost apart.
 */
export function verifyBatch(sets: readonly KeyedSignature[]): boolean {
  if (sets.length === 0) return true;
  try {
    return verifyMultipleAggregateSignatures(groupByMessage(sets).map(toSignatureSet));
  } catch {
    // The library throws for bytes that are no point of the group, and for the point at infinity.
    return false;
  }
}

/** The verdict on each signature: one batch when all are good, otherwise the bad ones are found by halving. */
export function verifyEachInBatch(sets: readonly KeyedSignature[]): boolean[] {
  if (verifyBatch(sets)) return sets.map(() => true);
  // Bytes that are no signature at all fail any batch they are in: they are told apart one by one, not by halving.
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
    // A batch of good signatures never fails, so a failed batch whose left half is good has its fault on the right.
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
