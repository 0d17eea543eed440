import { type ISignatureSet, type PubkeyCache, SignatureSetType } from "@lodestar/state-transition";
import type { KeyMemory } from "./key-memory.ts";
import type { SignerSet } from "./packed-sets.ts";
import { SIGNATURE_LENGTH } from "./verify-batch.ts";

/** Public key cache whose memory is shared between threads. */
export interface SharedPubkeys extends PubkeyCache {
  readonly memory: KeyMemory;
}

/** Resolves the signers of each set; null for a set that cannot be valid. */
export function findSigners(sets: readonly ISignatureSet[], pubkeyCache: PubkeyCache): (SignerSet | null)[] {
  return sets.map((set) => {
    const signer = set.signature.length === SIGNATURE_LENGTH ? signerOf(set, pubkeyCache) : undefined;
    return signer ? { message: set.signingRoot, signature: set.signature, signer } : null;
  });
}

export function countKeys(set: ISignatureSet): number {
  return set.type === SignatureSetType.aggregate ? set.indices.length : 1;
}

function signerOf(set: ISignatureSet, pubkeyCache: PubkeyCache): SignerSet["signer"] | undefined {
  switch (set.type) {
    case SignatureSetType.single:
      return set.pubkey;
    case SignatureSetType.indexed:
      return pubkeyCache.get(set.index);
    case SignatureSetType.aggregate: {
      const { size } = pubkeyCache;
      // FastAggregateVerify of no keys is invalid (BLS signature draft, section 3.3.4).
      return set.indices.length > 0 && set.indices.every((index) => index < size) ? set.indices : undefined;
    }
  }
}
