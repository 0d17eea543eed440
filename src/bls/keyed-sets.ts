import type { PublicKey } from "@chainsafe/blst";
import { type ISignatureSet, type PubkeyCache, SignatureSetType } from "@lodestar/state-transition";
import type { KeyMemory } from "./key-memory.ts";
import { sumKeys } from "./key-sums.ts";
import { type KeyedSignature, SIGNATURE_LENGTH } from "./verify-batch.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Public keys that threads can add up, too. */
export interface SharedPubkeys extends PubkeyCache {
  readonly memory: KeyMemory;
}

/** Looks up and adds up the keys of each set; `null` stands for a set that cannot be good whatever was signed. */
export async function keySignatureSets(
  sets: readonly ISignatureSet[],
  pubkeyCache: SharedPubkeys,
  workers: WorkerPool,
): Promise<(KeyedSignature | null)[]> {
  const { size } = pubkeyCache;
  const lists = sets.map((set) => (set.type === SignatureSetType.aggregate ? set.indices : []));
  // "FastAggregateVerify" of no keys is invalid (BLS signature draft, section 3.3.4).
  const summable = lists.filter((list) => list.length > 0 && list.every((index) => index < size));
  const sums = await sumKeys(summable, pubkeyCache.memory, workers);
  const sumOf = new Map(summable.map((list, i) => [list, sums[i]!]));

  return sets.map((set, i) => {
    if (set.signature.length !== SIGNATURE_LENGTH) return null;
    const pubkey = set.type === SignatureSetType.aggregate ? sumOf.get(lists[i]!) : findPubkey(set, pubkeyCache);
    return pubkey ? { message: set.signingRoot, pubkey, signature: set.signature } : null;
  });
}

export function countKeys(set: ISignatureSet): number {
  return set.type === SignatureSetType.aggregate ? set.indices.length : 1;
}

function findPubkey(
  set: Exclude<ISignatureSet, { type: SignatureSetType.aggregate }>,
  pubkeyCache: PubkeyCache,
): PublicKey | undefined {
  return set.type === SignatureSetType.single ? set.pubkey : pubkeyCache.get(set.index);
}
