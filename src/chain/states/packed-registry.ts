import { hashInto, type Node } from "@chainsafe/persistent-merkle-tree";
import { BranchNodeStruct } from "@chainsafe/ssz";
import { type phase0, ssz } from "@lodestar/types";
import { type HashedNodes, ROOT_BYTES, setRoot } from "./hashed-subtree.ts";
import {
  CREDENTIALS_OFFSET,
  EFFECTIVE_BALANCE_OFFSET,
  EPOCHS_OFFSET,
  PackedValidator,
  SLASHED_OFFSET,
  VALIDATOR_BYTES,
} from "./packed-validator.ts";

/** A public key is two leaves, a validator eight: the public key's root and seven more. */
const PAIR_BYTES = 2 * ROOT_BYTES;
const LEAVES_BYTES = 8 * ROOT_BYTES;

/** One function for all of them: the library makes one for each. */
const treeOf = (validator: phase0.Validator): Node => ssz.phase0.Validator.value_toTree(validator);

/** The nodes of validators, which know their roots and stay in the given bytes. */
export function readValidators(bytes: Uint8Array): HashedNodes {
  const count = bytes.length / VALIDATOR_BYTES;
  const roots = validatorRoots(bytes, count);
  const rootsView = new DataView(roots.buffer);
  const nodes = Array.from({ length: count }, (_, i) => {
    const node = new BranchNodeStruct<phase0.Validator>(treeOf, new PackedValidator(bytes, i * VALIDATOR_BYTES));
    setRoot(node, rootsView, i * ROOT_BYTES);
    return node;
  });
  return { nodes, roots };
}

function validatorRoots(bytes: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  const pubkeys = new Uint8Array(count * PAIR_BYTES);
  const leaves = new Uint8Array(count * LEAVES_BYTES);
  for (let i = 0; i < count; i++) copy(bytes, i * VALIDATOR_BYTES, CREDENTIALS_OFFSET, pubkeys, i * PAIR_BYTES);
  const pubkeyRoots = hashed(pubkeys);
  for (let i = 0; i < count; i++) {
    const [from, to] = [i * VALIDATOR_BYTES, i * LEAVES_BYTES];
    if (bytes[from + SLASHED_OFFSET]! > 1) throw new Error(`validator ${i} is neither slashed nor not`);
    copy(pubkeyRoots, i * ROOT_BYTES, ROOT_BYTES, leaves, to);
    copy(bytes, from + CREDENTIALS_OFFSET, ROOT_BYTES, leaves, to + ROOT_BYTES);
    copy(bytes, from + EFFECTIVE_BALANCE_OFFSET, 8, leaves, to + 2 * ROOT_BYTES);
    copy(bytes, from + SLASHED_OFFSET, 1, leaves, to + 3 * ROOT_BYTES);
    for (let epoch = 0; epoch < 4; epoch++) {
      copy(bytes, from + EPOCHS_OFFSET + 8 * epoch, 8, leaves, to + (4 + epoch) * ROOT_BYTES);
    }
  }
  return hashed(hashed(hashed(leaves)));
}

function hashed(pairs: Uint8Array): Uint8Array<ArrayBuffer> {
  const roots = new Uint8Array(pairs.length / 2);
  hashInto(pairs, roots);
  return roots;
}

/** For few bytes faster than the copies of the platform. */
function copy(from: Uint8Array, start: number, count: number, to: Uint8Array, at: number): void {
  for (let i = 0; i < count; i++) to[at + i] = from[start + i]!;
}
