import { aggregateSerializedPublicKeys, PublicKey } from "@chainsafe/blst";
import { KEY_LENGTH, KeyMemory } from "./key-memory.ts";
import { readKey } from "./read-key.ts";
import { type KeyedSignature, SIGNATURE_LENGTH } from "./verify-batch.ts";

const MESSAGE_LENGTH = 32;
const RECORD_LENGTH = MESSAGE_LENGTH + KEY_LENGTH + SIGNATURE_LENGTH;

/** A signature, still as received, beside the message and the key it has to fit, or the validators whose keys add up to it. */
export interface SignatureToKey {
  message: Uint8Array;
  signature: Uint8Array;
  signer: PublicKey | readonly number[];
}

/** What is sent to a thread: one buffer for all sets but for the keys that are to be added up, of which it is told the indices. */
export interface PackedSets {
  /** Keys travel uncompressed, which makes reading them back ten times cheaper than decompressing. */
  records: Uint8Array;
  /** Those of each set; null where the key is in the record. */
  indices: (Uint32Array | null)[];
  /** The memory of all keys. */
  chunks: readonly SharedArrayBuffer[];
}

export function packSets(sets: readonly SignatureToKey[], memory: KeyMemory): PackedSets {
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
      pubkey: signers ? sumOfKeys(memory, signers) : PublicKey.fromBytes(records.subarray(keyStart, signatureStart)),
      signature: records.subarray(signatureStart, signatureStart + SIGNATURE_LENGTH),
    };
  });
}

/** The same without a way to a thread. */
export function addUpKeys(sets: readonly SignatureToKey[], memory: KeyMemory): KeyedSignature[] {
  return sets.map(({ message, signature, signer }) => {
    return { message, signature, pubkey: signer instanceof PublicKey ? signer : sumOfKeys(memory, signer) };
  });
}

/** There has to be at least one. */
function sumOfKeys(memory: KeyMemory, indices: Iterable<number>): PublicKey {
  try {
    return aggregateSerializedPublicKeys(Array.from(indices, (index) => memory.read(index)));
  } catch (error) {
    // The library does not say which of them is none.
    for (const index of indices) readKey(index, memory.read(index));
    throw error;
  }
}
