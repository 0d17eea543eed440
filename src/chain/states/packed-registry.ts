import { hashInto, type Node } from "@chainsafe/persistent-merkle-tree";
import { BranchNodeStruct } from "@chainsafe/ssz";
import { type phase0, ssz } from "@lodestar/types";
import { PUBKEY_BYTES, VALIDATOR_BYTES, VALIDATOR_FIELDS } from "../../ssz/validator-layout.ts";
import { type HashedNodes, ROOT_BYTES, setRoot } from "./hashed-subtree.ts";
import { PackedValidator } from "./packed-validator.ts";

/** A public key has two leaves; a validator has eight, the first being the public key's root. */
const PAIR_BYTES = 2 * ROOT_BYTES;
const LEAVES_BYTES = 8 * ROOT_BYTES;

/** Small enough for the hash buffers to stay in the CPU cache. */
const BATCH = 256;
/** Buffers are reused; their padding bytes stay zero. */
const pubkeys = new Uint8Array(BATCH * PAIR_BYTES);
const pubkeyRoots = new Uint8Array(BATCH * ROOT_BYTES);
const leaves = new Uint8Array(BATCH * LEAVES_BYTES);
const quarters = new Uint8Array(leaves.length / 2);
const halves = new Uint8Array(leaves.length / 4);

/** Shared by all nodes; the library would create a closure per node. */
const treeOf = (validator: phase0.Validator): Node => ssz.phase0.Validator.value_toTree(validator);

/** Creates validator nodes with their roots. The validators are backed by a shared-memory copy of the bytes. */
export function readValidators(serialized: Uint8Array): HashedNodes {
  const bytes = new Uint8Array(new SharedArrayBuffer(serialized.length));
  bytes.set(serialized);
  const count = bytes.length / VALIDATOR_BYTES;
  const nodes = new Array<Node>(count);
  const roots = new Uint8Array(count * ROOT_BYTES);
  const rootsView = new DataView(roots.buffer);
  for (let first = 0; first < count; first += BATCH) {
    const end = Math.min(first + BATCH, count);
    const batch = bytes.subarray(first * VALIDATOR_BYTES, end * VALIDATOR_BYTES);
    hashValidators(batch, roots.subarray(first * ROOT_BYTES, end * ROOT_BYTES));
  }
  for (let i = 0; i < count; i++) {
    const validator = new PackedValidator(bytes, i * VALIDATOR_BYTES);
    const node = new BranchNodeStruct<phase0.Validator>(treeOf, validator);
    setRoot(node, rootsView, i * ROOT_BYTES);
    nodes[i] = node;
  }
  return { nodes, roots };
}

function hashValidators(bytes: Uint8Array, roots: Uint8Array): void {
  const count = bytes.length / VALIDATOR_BYTES;
  for (let i = 0; i < count; i++) copy(bytes, i * VALIDATOR_BYTES, PUBKEY_BYTES, pubkeys, i * PAIR_BYTES);
  hashInto(pubkeys.subarray(0, count * PAIR_BYTES), pubkeyRoots.subarray(0, count * ROOT_BYTES));
  for (let i = 0; i < count; i++) {
    const [from, to] = [i * VALIDATOR_BYTES, i * LEAVES_BYTES];
    if (bytes[from + VALIDATOR_FIELDS.slashed]! > 1)
      throw new Error("invalid boolean in the slashed field of a validator");
    copy(pubkeyRoots, i * ROOT_BYTES, ROOT_BYTES, leaves, to);
    copy(bytes, from + VALIDATOR_FIELDS.withdrawalCredentials, ROOT_BYTES, leaves, to + ROOT_BYTES);
    copy(bytes, from + VALIDATOR_FIELDS.effectiveBalance, 8, leaves, to + 2 * ROOT_BYTES);
    copy(bytes, from + VALIDATOR_FIELDS.slashed, 1, leaves, to + 3 * ROOT_BYTES);
    for (let epoch = 0; epoch < 4; epoch++) {
      copy(
        bytes,
        from + VALIDATOR_FIELDS.activationEligibilityEpoch + 8 * epoch,
        8,
        leaves,
        to + (4 + epoch) * ROOT_BYTES,
      );
    }
  }
  const quartersOfBatch = quarters.subarray(0, (count * LEAVES_BYTES) / 2);
  const halvesOfBatch = halves.subarray(0, (count * LEAVES_BYTES) / 4);
  hashInto(leaves.subarray(0, count * LEAVES_BYTES), quartersOfBatch);
  hashInto(quartersOfBatch, halvesOfBatch);
  hashInto(halvesOfBatch, roots);
}

/** Faster than `set` for a few bytes. */
function copy(from: Uint8Array, start: number, count: number, to: Uint8Array, at: number): void {
  for (let i = 0; i < count; i++) to[at + i] = from[start + i]!;
}
