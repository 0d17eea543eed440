import { createHash } from "node:crypto";

/** Implements ssz/merkle-proofs.md of the specification, independently of the libraries that create proofs. */

const bytes = (hex: string) => Buffer.from(hex.slice(2), "hex");

function parentOf(left: string, right: string): string {
  return `0x${createHash("sha256")
    .update(Buffer.concat([bytes(left), bytes(right)]))
    .digest("hex")}`;
}

/** calculate_merkle_root: root of a leaf and its branch. */
export function rootOfBranch(leaf: string, branch: readonly string[], gindex: bigint): string {
  let root = leaf;
  for (const [height, sibling] of branch.entries()) {
    const isRight = ((gindex >> BigInt(height)) & 1n) === 1n;
    root = isRight ? parentOf(sibling, root) : parentOf(root, sibling);
  }
  return root;
}

interface Multiproof {
  leaves: readonly { gindex: string; leaf: string }[];
  witnesses: readonly { gindex: string; node: string }[];
}

/** calculate_multi_merkle_root: root of all leaves and witnesses. Undefined if the number of witnesses is wrong. */
export function rootOfMultiproof({ leaves, witnesses }: Multiproof): string | undefined {
  const nodes = new Map([
    ...leaves.map(({ gindex, leaf }) => [BigInt(gindex), leaf] as const),
    ...witnesses.map(({ gindex, node }) => [BigInt(gindex), node] as const),
  ]);
  if (nodes.size !== leaves.length + witnesses.length) return undefined;
  const pending = [...nodes.keys()].sort((a, b) => (a < b ? 1 : -1));
  let used = 0;
  for (const gindex of pending) {
    const parent = gindex >> 1n;
    const left = nodes.get(gindex & ~1n);
    const right = nodes.get(gindex | 1n);
    if (parent === 0n || nodes.has(parent) || left === undefined || right === undefined) continue;
    nodes.set(parent, parentOf(left, right));
    pending.push(parent);
    used += 2;
  }
  return used === nodes.size - 1 ? nodes.get(1n) : undefined;
}
