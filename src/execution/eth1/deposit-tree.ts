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
 * The Merkle tree of the deposit contract, as a value that never changes. Of the deposits that are final it need not hold
 * the leaves: the roots of the largest subtrees that consist of them are enough (EIP-4881).
 */
export class DepositTree {
  readonly count: number;
  readonly #node: Node;

  static empty(): DepositTree {
    return new DepositTree(zeroNode(DEPOSIT_CONTRACT_TREE_DEPTH), 0);
  }

  /** A tree of `count` deposits, of which nothing is known but the roots of their subtrees, from left to right. */
  static fromFinalized(roots: readonly Uint8Array[], count: number): DepositTree {
    const remaining = [...roots];
    const node = subtreeOf(remaining, DEPOSIT_CONTRACT_TREE_DEPTH, count);
    if (remaining.length > 0) throw new Error(`${count} deposits have fewer subtrees than ${roots.length}.`);
    return new DepositTree(node, count);
  }

  private constructor(node: Node, count: number) {
    this.#node = node;
    this.count = count;
  }

  /** What the contract's `get_deposit_root` gives. */
  get root(): Uint8Array {
    return this.#withCount().root;
  }

  /** With these roots of deposit data after those that are there. */
  with(dataRoots: readonly Uint8Array[]): DepositTree {
    if (dataRoots.length === 0) return this;
    const indices = dataRoots.map((_, n) => this.count + n);
    const leaves = dataRoots.map((root) => LeafNode.fromRoot(root));
    const node = setNodesAtDepth(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, indices, leaves);
    return new DepositTree(node, this.count + dataRoots.length);
  }

  /** As it was when there were only so many deposits. Throws when the leaves up to there are not held any more. */
  upTo(count: number): DepositTree {
    if (count > this.count) throw new RangeError(`There are ${this.count} deposits, not ${count}.`);
    return new DepositTree(cut(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count), count);
  }

  /** The branch that proves the deposit against the root. */
  proof(index: number): Uint8Array[] {
    return new Tree(this.#withCount()).getSingleProof(toGindex(DEPOSIT_CONTRACT_TREE_DEPTH + 1, BigInt(index)));
  }

  /** The same tree without the leaves of the first `count` deposits. */
  finalized(count: number): DepositTree {
    return new DepositTree(sealed(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count), this.count);
  }

  /** The roots of the largest subtrees that the first `count` deposits fill, from left to right. */
  finalizedRoots(count: number): Uint8Array[] {
    return rootsOf(this.#node, DEPOSIT_CONTRACT_TREE_DEPTH, count);
  }

  /** The number of deposits is mixed in, as it is into the root of a list. */
  #withCount(): Node {
    const length = new Uint8Array(32);
    new DataView(length.buffer).setBigUint64(0, BigInt(this.count), true);
    return new BranchNode(this.#node, LeafNode.fromRoot(length));
  }
}

/** How many of the first `count` leaves of a subtree are in its left and in its right half. */
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
  if (node.isLeaf()) throw new RangeError("Deposits that are final cannot be told apart any more.");
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
