import { randomBytes } from "node:crypto";
import type { BeaconDb } from "../db/beacon-db.ts";

const KEY_BYTES = 32;

/** Order of the secp256k1 group. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Returns the node's secp256k1 private key. The key is created on the first start and read from the database
 * afterwards.
 */
export async function openNodeKey(db: BeaconDb): Promise<Uint8Array> {
  const stored = await db.meta.getNodeKey();
  if (stored !== null) return stored;
  const key = createNodeKey();
  const batch = db.batch();
  batch.meta.putNodeKey(key);
  await batch.write();
  return key;
}

/**
 * Draws random bytes until they form a valid private key, which is an integer from 1 to the group order minus 1. Avoids
 * curve arithmetic, because not every runtime has secp256k1 built in, and loading a library would slow down every first
 * start.
 */
function createNodeKey(): Uint8Array {
  for (;;) {
    const key = randomBytes(KEY_BYTES);
    if (isPrivateKey(key)) return new Uint8Array(key);
  }
}

/** Returns true for a valid secp256k1 private key. */
export function isPrivateKey(key: Buffer): boolean {
  const scalar = BigInt(`0x${key.toString("hex")}`);
  return scalar > 0n && scalar < GROUP_ORDER;
}
