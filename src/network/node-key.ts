import { createECDH } from "node:crypto";
import type { BeaconDb } from "../db/beacon-db.ts";

const KEY_BYTES = 32;

/** The secp256k1 key that a node is known by on the network: made at its first start, and kept from then on. */
export async function openNodeKey(db: BeaconDb): Promise<Uint8Array> {
  const stored = await db.meta.getNodeKey();
  if (stored !== null) return stored;
  const key = createNodeKey();
  const batch = db.batch();
  batch.meta.putNodeKey(key);
  await batch.write();
  return key;
}

function createNodeKey(): Uint8Array {
  const ecdh = createECDH("secp256k1");
  ecdh.generateKeys();
  const scalar = ecdh.getPrivateKey();
  // The scalar comes without leading zero bytes.
  const key = new Uint8Array(KEY_BYTES);
  key.set(scalar, KEY_BYTES - scalar.length);
  return key;
}
