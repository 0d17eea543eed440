import type { RootHex, Slot } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";

/** Key prefixes. A released number is never reused for another purpose. */
export const Bucket = {
  meta: 0,
  blocks: 1,
  hotBlocks: 2,
  finalizedBlocks: 3,
  stateIndex: 4,
  snapshots: 5,
  operations: 6,
  lightClientUpdates: 7,
  eth1Blocks: 8,
  eth1Deposits: 9,
  eth1Snapshot: 10,
  packedSnapshots: 11,
  snapshotParts: 12,
  dataSidecars: 13,
  dataBlocks: 14,
  orphanedBlocks: 15,
  payloads: 16,
} as const;

/** Key prefix of layer entries, distinct from every bucket. */
export const LAYERS = 0xfe;

export type Root = RootHex | Uint8Array;

export interface SlotAndRoot {
  slot: Slot;
  root: RootHex;
}

const SLOT_BYTES = 8;
const ROOT_BYTES = 32;

/** Encodes a slot big-endian, so that byte order matches slot order. */
export function slotKey(slot: Slot): Uint8Array {
  const bytes = new Uint8Array(SLOT_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(slot));
  return bytes;
}

/** Encodes a slot as a range bound. Clamps values outside the range of valid slots. */
export function slotBound(slot: Slot): Uint8Array {
  return slot > Number.MAX_SAFE_INTEGER ? new Uint8Array(SLOT_BYTES).fill(0xff) : slotKey(Math.max(0, slot));
}

export function slotOfKey(key: Uint8Array): Slot {
  return Number(new DataView(key.buffer, key.byteOffset).getBigUint64(0));
}

export function rootBytes(root: Root): Uint8Array {
  const bytes = typeof root === "string" ? fromHex(root) : root;
  if (bytes.length !== ROOT_BYTES) throw new Error(`Invalid root: expected ${ROOT_BYTES} bytes, got ${bytes.length}.`);
  return bytes;
}

export function slotAndRootKey(slot: Slot, root: Root): Uint8Array {
  const key = new Uint8Array(SLOT_BYTES + ROOT_BYTES);
  key.set(slotKey(slot));
  key.set(rootBytes(root), SLOT_BYTES);
  return key;
}

export function slotAndRootOfKey(key: Uint8Array): SlotAndRoot {
  return { slot: slotOfKey(key), root: toRootHex(key.subarray(SLOT_BYTES)) };
}
