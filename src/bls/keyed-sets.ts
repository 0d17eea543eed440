import { setImmediate } from "node:timers/promises";
import { aggregatePublicKeys, type PublicKey } from "@chainsafe/blst";
import { type ISignatureSet, type PubkeyCache, SignatureSetType } from "@lodestar/state-transition";
import { type KeyedSignature, SIGNATURE_LENGTH } from "./verify-batch.ts";

/**
 * Adding up 8192 keys takes about 7 ms, so that is how much is done before other work gets its turn. Sums are made on
 * this thread because sending the keys of a set elsewhere costs more than adding them.
 */
const KEYS_PER_TURN = 8192;

/** Looks up and adds up the keys of each set; `null` stands for a set that cannot be good whatever was signed. */
export async function keySignatureSets(
  sets: readonly ISignatureSet[],
  pubkeyCache: PubkeyCache,
): Promise<(KeyedSignature | null)[]> {
  const keyed: (KeyedSignature | null)[] = [];
  let keysInTurn = 0;
  for (const set of sets) {
    keysInTurn += countKeys(set);
    if (keysInTurn > KEYS_PER_TURN) {
      await setImmediate();
      keysInTurn = 0;
    }
    const pubkey = set.signature.length === SIGNATURE_LENGTH ? await findPubkey(set, pubkeyCache) : null;
    keyed.push(pubkey && { message: set.signingRoot, pubkey, signature: set.signature });
  }
  return keyed;
}

export function countKeys(set: ISignatureSet): number {
  return set.type === SignatureSetType.aggregate ? set.indices.length : 1;
}

async function findPubkey(set: ISignatureSet, pubkeyCache: PubkeyCache): Promise<PublicKey | null> {
  switch (set.type) {
    case SignatureSetType.single:
      return set.pubkey;
    case SignatureSetType.indexed:
      return pubkeyCache.get(set.index) ?? null;
    case SignatureSetType.aggregate:
      return sumPubkeys(set.indices, pubkeyCache);
  }
}

async function sumPubkeys(indices: readonly number[], pubkeyCache: PubkeyCache): Promise<PublicKey | null> {
  // "FastAggregateVerify" of no keys is invalid (BLS signature draft, section 3.3.4).
  if (indices.length === 0) return null;
  const partialSums: PublicKey[] = [];
  for (let start = 0; start < indices.length; start += KEYS_PER_TURN) {
    if (start > 0) await setImmediate();
    const pubkeys: PublicKey[] = [];
    for (const index of indices.slice(start, start + KEYS_PER_TURN)) {
      const pubkey = pubkeyCache.get(index);
      if (!pubkey) return null;
      pubkeys.push(pubkey);
    }
    partialSums.push(aggregatePublicKeys(pubkeys));
  }
  return partialSums.length === 1 ? partialSums[0]! : aggregatePublicKeys(partialSums);
}
