import { createHash } from "node:crypto";

/** Written after ssz/merkle-proofs.md of the specification, without any of the libraries that make proofs. */

const bytes = (hex: string) => Buffer.from(hex.slice(2), "hex");

function parentOf(left: string, right: string): string {
  return `0x${createHash("sha256")
    .update(Buffer.concat([bytes(left), bytes(right)]))
    .digest("hex")}`;
}

/** calculate_merkle_root: where a branch leads from a leaf. */
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

/**
 * calculate_multi_merkle_root: what all leaves and witnesses together make; undefined when one is too much or missing.
 */
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
