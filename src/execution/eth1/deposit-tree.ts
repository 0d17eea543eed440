import {
  BranchNode,
  LeafNode,
  type Node,
  setNodesAtDepth,
  Tree,
  toGindex,
  zeroNode,
} from "@chainsafe/persistent-merkle-tree";
import { DEPOSIT_CONTRACT_TREE_DEPTH } from "@lodestar/params";

/**
 * Immutable Merkle tree of the deposit contract. Finalized deposits are stored only as the roots of their largest
 * subtrees (EIP-4881).
 */
export class DepositTree {
  readonly count: number;
  readonly #node: Node;

  static empty(): DepositTree {
    return new DepositTree(zeroNode(DEPOSIT_CONTRACT_TREE_DEPTH), 0);
  }

  /** Creates a tree of `count` finalized deposits from the roots of their subtrees, left to right. */
  static fromFinalized(roots: readonly Uint8Array[], count: number): DepositTree {
    const remaining = [...roots];
    const node = subtreeOf(remaining, DEPOSIT_CONTRACT_TREE_DEPTH, count);
    if (remaining.length > 0) throw new Error(`Too many roots for ${count} finalized deposits: ${roots.length}.`);
    return new DepositTree(node, count);
  }

  private constructor(node: Node, count: number) {
    this.#node = node;
    this.count = count;
  }

  /** Matches the contract's `get_deposit_root`. */
  get root(): Uint8Array {
    return this.#withCount().root;
  }

  /** Returns a tree with deposit data roots appended. */
  with(dataRoots: readonly Uint8Array[]): DepositTree {
    if (dataRoots.length === 0) return this;
    const indices = dataRoots.map((_, n) => this.count + n);
    const leaves = dataRoots.map((root) => LeafNode.fromRoot(root));
    const node = setNodesAtDepth(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, indices, leaves);
    return new DepositTree(node, this.count + dataRoots.length);
  }

  /** Returns the tree of the first `count` deposits. Throws if finalization has dropped their leaves. */
  upTo(count: number): DepositTree {
    if (count > this.count) throw new RangeError(`The tree has ${this.count} deposits, ${count} requested.`);
    return new DepositTree(cut(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count), count);
  }

  /** Returns the Merkle proof of a deposit. */
  proof(index: number): Uint8Array[] {
    return new Tree(this.#withCount()).getSingleProof(toGindex(DEPOSIT_CONTRACT_TREE_DEPTH + 1, BigInt(index)));
  }

  /** Returns the tree without the leaves of the first `count` deposits. */
  finalized(count: number): DepositTree {
    return new DepositTree(sealed(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count), this.count);
  }

  /** Returns the roots of the largest subtrees filled by the first `count` deposits, left to right. */
  finalizedRoots(count: number): Uint8Array[] {
    return rootsOf(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count);
  }

  /** Mixes in the deposit count, like the length of an SSZ list. */
  #withCount(): Node {
    const length = new Uint8Array(32);
    new DataView(length.buffer).setBigUint64(0, BigInt(this.count), true);
    return new BranchNode(this.#node, LeafNode.fromRoot(length));
  }
}

/** Splits the first `count` leaves of a subtree between its left and right halves. */
function halves(depth: number, count: number): [left: number, right: number] {
  const half = 2 ** (depth - 1);
  return [Math.min(count, half), Math.max(0, count - half)];
}

function subtreeOf(roots: Uint8Array[], depth: number, count: number): Node {
  if (count === 0) return zeroNode(depth);
  if (count === 2 ** depth) {
    const root = roots.shift();
    if (root === undefined) throw new Error("The roots of finalized deposits are incomplete.");
    return LeafNode.fromRoot(root);
  }
  const [left, right] = halves(depth, count);
  return new BranchNode(subtreeOf(roots, depth - 1, left), subtreeOf(roots, depth - 1, right));
}

function cut(node: Node, depth: number, count: number): Node {
  if (count === 0) return zeroNode(depth);
  if (count === 2 ** depth) return node;
  if (node.isLeaf()) throw new RangeError("The leaves of finalized deposits are no longer available.");
  const [left, right] = halves(depth, count);
  return new BranchNode(cut(node.left, depth - 1, left), cut(node.right, depth - 1, right));
}

function sealed(node: Node, depth: number, count: number): Node {
  if (count === 0) return node;
  if (count === 2 ** depth) return LeafNode.fromRoot(node.root);
  const [left, right] = halves(depth, count);
  return new BranchNode(sealed(node.left, depth - 1, left), sealed(node.right, depth - 1, right));
}

function rootsOf(node: Node, depth: number, count: number): Uint8Array[] {
  if (count === 0) return [];
  if (count === 2 ** depth) return [node.root];
  const [left, right] = halves(depth, count);
  return [...rootsOf(node.left, depth - 1, left), ...rootsOf(node.right, depth - 1, right)];
}
