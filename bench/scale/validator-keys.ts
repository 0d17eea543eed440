import { closeSync, existsSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { aggregatePublicKeys, SecretKey } from "@chainsafe/blst";

/** The secret key of validator 0; those after it are one more each. Neither is a secret. */
const FIRST_SCALAR = 0xfa4a_1000_0000n;

/** Of a compressed public key. */
export const KEY_BYTES = 48;

/** The secret key of a validator, as the number that it is. */
export function secretScalar(index: number): bigint {
  return FIRST_SCALAR + BigInt(index);
}

export function toSecretKey(scalar: bigint): SecretKey {
  return SecretKey.fromHex(scalar.toString(16).padStart(64, "0"));
}

/**
 * The compressed public keys of the first validators, one after the other, from a file if they are there. Each is the
 * one before it plus the generator of the group: an addition costs a twentieth of the multiplication that makes a
 * public key of a secret one.
 */
export function publicKeys(file: string, count: number): Uint8Array {
  const kept = existsSync(file) ? readStart(file, count * KEY_BYTES) : undefined;
  if (kept) return kept;
  const keys = Buffer.alloc(count * KEY_BYTES);
  const generator = toSecretKey(1n).toPublicKey();
  let key = toSecretKey(secretScalar(0)).toPublicKey();
  for (let index = 0; index < count; index++) {
    keys.set(key.toBytes(), index * KEY_BYTES);
    key = aggregatePublicKeys([key, generator]);
  }
  writeFileSync(`${file}.tmp`, keys);
  renameSync(`${file}.tmp`, file);
  return keys;
}

/** Undefined when the file is shorter. */
function readStart(file: string, length: number): Uint8Array | undefined {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    return readSync(descriptor, bytes, 0, length, 0) === length ? bytes : undefined;
  } finally {
    closeSync(descriptor);
  }
}
