import { closeSync, existsSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { aggregatePublicKeys, SecretKey } from "@chainsafe/blst";

/** Of the groups of BLS12-381. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** The secret key of validator 0; those after it are one more each. Neither is a secret. */
const FIRST_SCALAR = 0xfa4a_1000_0000n;

/** Of a compressed public key. */
export const KEY_BYTES = 48;

/** What one signature has to be made with that stands for those of all these validators. */
export function jointSecretKey(validators: Iterable<number>): SecretKey {
  let sum = 0n;
  for (const index of validators) sum += FIRST_SCALAR + BigInt(index);
  return toSecretKey(sum % GROUP_ORDER);
}

/**
 * The compressed public keys of the first validators, one after the other, from a file if they are there. Each is the one before it plus the
 * generator of the group: an addition costs a twentieth of the multiplication that makes a public key of a secret one.
 */
export function publicKeys(file: string, count: number): Uint8Array {
  const kept = existsSync(file) ? readStart(file, count * KEY_BYTES) : undefined;
  if (kept) return kept;
  const keys = Buffer.alloc(count * KEY_BYTES);
  const generator = toSecretKey(1n).toPublicKey();
  let key = jointSecretKey([0]).toPublicKey();
  for (let index = 0; index < count; index++) {
    keys.set(key.toBytes(), index * KEY_BYTES);
    key = aggregatePublicKeys([key, generator]);
  }
  writeFileSync(`${file}.tmp`, keys);
  renameSync(`${file}.tmp`, file);
  return keys;
}

function toSecretKey(scalar: bigint): SecretKey {
  return SecretKey.fromHex(scalar.toString(16).padStart(64, "0"));
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
