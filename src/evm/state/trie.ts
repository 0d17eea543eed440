import { encodeBytes, encodeList, RLP_EMPTY_BYTES } from "../rlp.ts";

/**
 * Immutable Merkle Patricia trie in memory. A new version shares all unchanged nodes with the previous version, so a
 * snapshot is just a reference to a root, and unreferenced versions are garbage-collected. A node is hashed at most
 * once, on demand. Keys must not be prefixes of each other, as is the case for hashes and RLP-encoded indexes.
 */
export type TrieNode<V> = Leaf<V> | Extension<V> | Branch<V>;

export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** Encodes values and hashes nodes. */
export interface TrieCodec<V> {
  encode(value: V): Uint8Array;
  keccak: Keccak;
}

/** Keccak-256 of the RLP of the empty string: the root of an empty trie. */
export const EMPTY_TRIE_ROOT: Uint8Array = new Uint8Array(
  Buffer.from("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421", "hex"),
);

const WIDTH = 16;
/** Nodes with a shorter encoding are embedded in their parent. */
const HASH_SIZE = 32;

/** Leaf that holds the nibbles of `key` from `from` to the end. */
class Leaf<V> {
  readonly kind = 0;
  readonly key: Uint8Array;
  readonly from: number;
  readonly value: V;
  /** Reference in the parent: the RLP of the node's hash, or the node itself if it is short. */
  reference: Uint8Array | undefined = undefined;

  constructor(key: Uint8Array, from: number, value: V) {
    this.key = key;
    this.from = from;
    this.value = value;
  }
}

/** Extension that holds the nibbles of `key` from `from` to `to`. */
class Extension<V> {
  readonly kind = 1;
  readonly key: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly child: Branch<V>;
  reference: Uint8Array | undefined = undefined;

  constructor(key: Uint8Array, from: number, to: number, child: Branch<V>) {
    this.key = key;
    this.from = from;
    this.to = to;
    this.child = child;
  }
}

class Branch<V> {
  readonly kind = 2;
  readonly children: readonly (TrieNode<V> | undefined)[];
  reference: Uint8Array | undefined = undefined;

  constructor(children: readonly (TrieNode<V> | undefined)[]) {
    this.children = children;
  }
}

export function getValue<V>(root: TrieNode<V> | undefined, key: Uint8Array, from = 0): V | undefined {
  let node = root;
  let depth = from;
  while (node !== undefined) {
    if (node.kind === 2) {
      node = node.children[nibbleAt(key, depth++)];
    } else if (node.kind === 0) {
      return sharedUntil(node.key, key, depth) === 2 * key.length ? node.value : undefined;
    } else {
      if (sharedUntil(node.key, key, depth) < node.to) return undefined;
      depth = node.to;
      node = node.child;
    }
  }
  return undefined;
}

/** Returns a trie with the value stored at the key. */
export function putValue<V>(node: TrieNode<V> | undefined, key: Uint8Array, value: V, depth = 0): TrieNode<V> {
  if (node === undefined) return new Leaf(key, depth, value);
  if (node.kind === 2) {
    const nibble = nibbleAt(key, depth);
    const children = node.children.slice();
    children[nibble] = putValue(children[nibble], key, value, depth + 1);
    return new Branch(children);
  }
  const fork = sharedUntil(node.key, key, depth);
  if (node.kind === 0 && fork === 2 * key.length) return new Leaf(key, depth, value);
  if (node.kind === 1 && fork >= node.to) {
    const child = putValue(node.child, key, value, node.to) as Branch<V>;
    return new Extension(node.key, node.from, node.to, child);
  }
  const children = new Array<TrieNode<V> | undefined>(WIDTH).fill(undefined);
  children[nibbleAt(node.key, fork)] = startingAt(node, fork + 1);
  children[nibbleAt(key, fork)] = new Leaf(key, fork + 1, value);
  return extend(key, depth, fork, new Branch(children));
}

/** Returns a trie without the key, or the same trie if the key is missing. */
export function deleteValue<V>(node: TrieNode<V> | undefined, key: Uint8Array, depth = 0): TrieNode<V> | undefined {
  if (node === undefined) return undefined;
  if (node.kind === 0) return sharedUntil(node.key, key, depth) === 2 * key.length ? undefined : node;
  if (node.kind === 1) {
    if (sharedUntil(node.key, key, depth) < node.to) return node;
    const child = deleteValue(node.child, key, node.to)!;
    return child === node.child ? node : prepend(child, key, depth, node.to);
  }
  const nibble = nibbleAt(key, depth);
  const child = deleteValue(node.children[nibble], key, depth + 1);
  if (child === node.children[nibble]) return node;
  const children = node.children.slice();
  children[nibble] = child;
  const only = onlyChild(children);
  if (only === undefined) return new Branch(children);
  const path = key.slice();
  path[depth >> 1] = depth % 2 === 0 ? (only << 4) | (path[depth >> 1]! & 15) : (path[depth >> 1]! & 0xf0) | only;
  return prepend(children[only]!, path, depth, depth + 1);
}

/** Visits all values in key order. */
export function forEachValue<V>(node: TrieNode<V> | undefined, visit: (key: Uint8Array, value: V) => void): void {
  if (node === undefined) return;
  if (node.kind === 0) visit(node.key, node.value);
  else if (node.kind === 1) forEachValue(node.child, visit);
  else for (const child of node.children) forEachValue(child, visit);
}

/**
 * Yields the keys whose values differ between two tries, with both values; a missing value is undefined. Skips shared
 * nodes, so the time depends on the size of the difference.
 */
export function* differences<V>(
  before: TrieNode<V> | undefined,
  after: TrieNode<V> | undefined,
  depth = 0,
): Generator<[key: Uint8Array, before: V | undefined, after: V | undefined]> {
  if (before === after) return;
  if (before?.kind === 2 && after?.kind === 2) {
    for (let nibble = 0; nibble < WIDTH; nibble++) {
      const [one, other] = [before.children[nibble], after.children[nibble]];
      if (one !== other) yield* differences(one, other, depth + 1);
    }
    return;
  }
  if (before?.kind === 1 && after?.kind === 1 && before.to === after.to) {
    if (sharedUntil(before.key, after.key, depth) >= before.to) {
      yield* differences(before.child, after.child, before.to);
      return;
    }
  }
  for (const [key, value] of values(before)) {
    const now = getValue(after, key, depth);
    if (now !== value) yield [key, value, now];
  }
  for (const [key, value] of values(after)) {
    if (getValue(before, key, depth) === undefined) yield [key, undefined, value];
  }
}

/** Yields all values in key order. */
function* values<V>(node: TrieNode<V> | undefined): Generator<[key: Uint8Array, value: V]> {
  if (node === undefined) return;
  if (node.kind === 0) yield [node.key, node.value];
  else if (node.kind === 1) yield* values(node.child);
  else for (const child of node.children) if (child !== undefined) yield* values(child);
}

export function rootHash<V>(root: TrieNode<V> | undefined, codec: TrieCodec<V>): Uint8Array {
  if (root === undefined) return EMPTY_TRIE_ROOT;
  const reference = referenceTo(root, codec);
  return reference.length === HASH_SIZE + 1 ? reference.subarray(1) : codec.keccak(reference);
}

/** Returns the encoded nodes from the root to the key, which prove its value or absence. */
export function proofOf<V>(root: TrieNode<V> | undefined, key: Uint8Array, codec: TrieCodec<V>): Uint8Array[] {
  const proof: Uint8Array[] = [];
  let depth = 0;
  for (let node = root; node !== undefined; ) {
    const encoded = encodeNode(node, codec);
    if (proof.length === 0 || encoded.length >= HASH_SIZE) proof.push(encoded);
    if (node.kind === 0) break;
    if (node.kind === 2) {
      node = node.children[nibbleAt(key, depth++)];
    } else {
      if (sharedUntil(node.key, key, depth) < node.to) break;
      depth = node.to;
      node = node.child;
    }
  }
  return proof;
}

/**
 * Returns the trie root of a list with RLP-encoded indexes, which headers use for transactions, receipts and
 * withdrawals.
 */
export function listRoot(items: readonly Uint8Array[], keccak: Keccak): Uint8Array {
  let root: TrieNode<Uint8Array> | undefined;
  for (const [index, item] of items.entries()) root = putValue(root, indexKey(index), item);
  return rootHash(root, { encode: (item) => item, keccak });
}

function indexKey(index: number): Uint8Array {
  if (index === 0) return RLP_EMPTY_BYTES;
  if (index < 0x80) return Uint8Array.of(index);
  return index < 0x100 ? Uint8Array.of(0x81, index) : Uint8Array.of(0x82, index >> 8, index & 0xff);
}

function nibbleAt(key: Uint8Array, index: number): number {
  const byte = key[index >> 1]!;
  return (index & 1) === 0 ? byte >> 4 : byte & 15;
}

/**
 * Returns the index of the first nibble at or after `from` at which the keys differ, or the length of the shorter key.
 */
function sharedUntil(one: Uint8Array, other: Uint8Array, from: number): number {
  const end = 2 * Math.min(one.length, other.length);
  let index = from;
  if ((index & 1) === 1 && index < end) {
    if (nibbleAt(one, index) !== nibbleAt(other, index)) return index;
    index++;
  }
  while (index < end && one[index >> 1] === other[index >> 1]) index += 2;
  return index < end && nibbleAt(one, index) === nibbleAt(other, index) ? index + 1 : index;
}

function startingAt<V>(node: Leaf<V> | Extension<V>, from: number): TrieNode<V> {
  return node.kind === 0 ? new Leaf(node.key, from, node.value) : extend(node.key, from, node.to, node.child);
}

function extend<V>(key: Uint8Array, from: number, to: number, child: Branch<V>): TrieNode<V> {
  return from === to ? child : new Extension(key, from, to, child);
}

/** Prepends nibbles `from` to `to` of `key` to a node. */
function prepend<V>(node: TrieNode<V>, key: Uint8Array, from: number, to: number): TrieNode<V> {
  if (node.kind === 2) return new Extension(key, from, to, node);
  return node.kind === 0 ? new Leaf(node.key, from, node.value) : new Extension(node.key, from, node.to, node.child);
}

function onlyChild(children: readonly unknown[]): number | undefined {
  let found: number | undefined;
  for (let index = 0; index < WIDTH; index++) {
    if (children[index] === undefined) continue;
    if (found !== undefined) return undefined;
    found = index;
  }
  return found;
}

function referenceTo<V>(node: TrieNode<V>, codec: TrieCodec<V>): Uint8Array {
  if (node.reference !== undefined) return node.reference;
  const encoded = encodeNode(node, codec);
  const reference = encoded.length < HASH_SIZE ? encoded : encodeBytes(codec.keccak(encoded));
  node.reference = reference;
  return reference;
}

function encodeNode<V>(node: TrieNode<V>, codec: TrieCodec<V>): Uint8Array {
  if (node.kind === 0) {
    const path = encodePath(node.key, node.from, 2 * node.key.length, 2);
    return encodeList([encodeBytes(path), encodeBytes(codec.encode(node.value))]);
  }
  if (node.kind === 1) {
    const path = encodePath(node.key, node.from, node.to, 0);
    return encodeList([encodeBytes(path), referenceTo(node.child, codec)]);
  }
  const items = new Array<Uint8Array>(WIDTH + 1);
  for (let index = 0; index < WIDTH; index++) {
    const child = node.children[index];
    items[index] = child === undefined ? RLP_EMPTY_BYTES : referenceTo(child, codec);
  }
  items[WIDTH] = RLP_EMPTY_BYTES;
  return encodeList(items);
}

/** Hex-prefix encoding (Yellow Paper, appendix C). */
function encodePath(key: Uint8Array, from: number, to: number, flag: 0 | 2): Uint8Array {
  const isOdd = (to - from) % 2 === 1;
  const path = new Uint8Array(((to - from) >> 1) + 1);
  path[0] = isOdd ? ((flag + 1) << 4) | nibbleAt(key, from) : flag << 4;
  let index = isOdd ? from + 1 : from;
  for (let at = 1; at < path.length; at++, index += 2)
    path[at] = (nibbleAt(key, index) << 4) | nibbleAt(key, index + 1);
  return path;
}
