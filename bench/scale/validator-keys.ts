import { closeSync, existsSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { aggregatePublicKeys, SecretKey } from "@chainsafe/blst";

/** Secret key of validator 0. The following keys increment by one. */
const FIRST_SCALAR = 0xfa4a_1000_0000n;

/** Length of a compressed public key. */
export const KEY_BYTES = 48;

/** Returns the secret key of a validator as a scalar. */
export function secretScalar(index: number): bigint {
  return FIRST_SCALAR + BigInt(index);
}

export function toSecretKey(scalar: bigint): SecretKey {
  return SecretKey.fromHex(scalar.toString(16).padStart(64, "0"));
}

/**
 * Returns the concatenated compressed public keys of the first validators, and caches them in a file. Each key is the
 * previous one plus the generator: an addition costs a twentieth of a scalar multiplication.
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

/** Returns undefined if the file is shorter. */
function readStart(file: string, length: number): Uint8Array | undefined {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    return readSync(descriptor, bytes, 0, length, 0) === length ? bytes : undefined;
  } finally {
    closeSync(descriptor);
  }
}
