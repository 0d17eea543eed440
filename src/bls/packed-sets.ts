import { aggregateSerializedPublicKeys, PublicKey } from "@chainsafe/blst";
import { KEY_LENGTH, KeyMemory } from "./key-memory.ts";
import { readKey } from "./read-key.ts";
import { type KeyedSignature, SIGNATURE_LENGTH } from "./verify-batch.ts";

const MESSAGE_LENGTH = 32;
const RECORD_LENGTH = MESSAGE_LENGTH + KEY_LENGTH + SIGNATURE_LENGTH;

/** A signature with its message and either its public key or the indices of the keys to aggregate. */
export interface SignerSet {
  message: Uint8Array;
  signature: Uint8Array;
  signer: PublicKey | readonly number[];
}

/** Signature sets for a worker thread, in one buffer. Aggregates are sent as indices into the shared key memory. */
export interface PackedSets {
  /** Keys are uncompressed, which makes them ten times cheaper to read. */
  records: Uint8Array;
  /** Key indices per set; null if the record contains the key. */
  indices: (Uint32Array | null)[];
  /** Shared memory that holds all keys. */
  chunks: readonly SharedArrayBuffer[];
}

export function packSets(sets: readonly SignerSet[], memory: KeyMemory): PackedSets {
  const records = new Uint8Array(sets.length * RECORD_LENGTH);
  const indices = sets.map(({ message, signature, signer }, i) => {
    const start = i * RECORD_LENGTH;
    records.set(message, start);
    records.set(signature, start + MESSAGE_LENGTH + KEY_LENGTH);
    if (!(signer instanceof PublicKey)) return Uint32Array.from(signer);
    records.set(signer.toBytes(false), start + MESSAGE_LENGTH);
    return null;
  });
  return { records, indices, chunks: memory.chunks };
}

export function unpackSets({ records, indices, chunks }: PackedSets): KeyedSignature[] {
  const memory = new KeyMemory(chunks);
  return indices.map((signers, i) => {
    const start = i * RECORD_LENGTH;
    const keyStart = start + MESSAGE_LENGTH;
    const signatureStart = keyStart + KEY_LENGTH;
    return {
      message: records.subarray(start, keyStart),
      pubkey: signers
        ? aggregateKeysAt(memory, signers)
        : PublicKey.fromBytes(records.subarray(keyStart, signatureStart)),
      signature: records.subarray(signatureStart, signatureStart + SIGNATURE_LENGTH),
    };
  });
}

/** Resolves keys without a worker thread. */
export function aggregateKeys(sets: readonly SignerSet[], memory: KeyMemory): KeyedSignature[] {
  return sets.map(({ message, signature, signer }) => {
    return { message, signature, pubkey: signer instanceof PublicKey ? signer : aggregateKeysAt(memory, signer) };
  });
}

/** Requires at least one index. */
function aggregateKeysAt(memory: KeyMemory, indices: Iterable<number>): PublicKey {
  try {
    return aggregateSerializedPublicKeys(Array.from(indices, (index) => memory.read(index)));
  } catch (error) {
    // The library does not report which key is invalid.
    for (const index of indices) readKey(index, memory.read(index));
    throw error;
  }
}
