import { PublicKey } from "@chainsafe/blst";
import { type KeyedSignature, SIGNATURE_LENGTH } from "./verify-batch.ts";

const MESSAGE_LENGTH = 32;
const PUBKEY_LENGTH = 96;
const RECORD_LENGTH = MESSAGE_LENGTH + PUBKEY_LENGTH + SIGNATURE_LENGTH;

/** One buffer for a whole job. Keys travel uncompressed, which makes reading them back ten times cheaper than decompressing. */
export function packSets(sets: readonly KeyedSignature[]): Uint8Array {
  const packed = new Uint8Array(sets.length * RECORD_LENGTH);
  sets.forEach(({ message, pubkey, signature }, index) => {
    const start = index * RECORD_LENGTH;
    packed.set(message, start);
    packed.set(pubkey.toBytes(false), start + MESSAGE_LENGTH);
    packed.set(signature, start + MESSAGE_LENGTH + PUBKEY_LENGTH);
  });
  return packed;
}

export function unpackSets(packed: Uint8Array): KeyedSignature[] {
  const sets: KeyedSignature[] = [];
  for (let start = 0; start < packed.length; start += RECORD_LENGTH) {
    const pubkeyStart = start + MESSAGE_LENGTH;
    const signatureStart = pubkeyStart + PUBKEY_LENGTH;
    sets.push({
      message: packed.subarray(start, pubkeyStart),
      pubkey: PublicKey.fromBytes(packed.subarray(pubkeyStart, signatureStart)),
      signature: packed.subarray(signatureStart, signatureStart + SIGNATURE_LENGTH),
    });
  }
  return sets;
}
