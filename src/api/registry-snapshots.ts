import { getNodesAtDepth, type Node, packedNodeRootsToBytes } from "@chainsafe/persistent-merkle-tree";
import type { BranchNodeStruct, ByteViews } from "@chainsafe/ssz";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { SingleFlight } from "../async/single-flight.ts";
import { TimeSlice } from "../async/time-slice.ts";
import { PackedValidator } from "../chain/states/packed-validator.ts";
import { LruMap } from "../collections/lru-map.ts";
import { BALANCE_BYTES, type Chunks, VALIDATORS_PER_CHUNK } from "../json/writers/registry-chunks.ts";
import { type ArrayOfElements, isProgressive, nodesBetween } from "../ssz/tree.ts";
import { VALIDATOR_BYTES } from "../ssz/validator-layout.ts";
import { perChain } from "./per-chain.ts";

/** The head's snapshot and one more. With a million validators, each snapshot takes up to 130 MB. */
const MAX_SNAPSHOTS = 2;

/**
 * Caches the serialized validators and balances of recent states in shared memory, from which worker threads read them.
 */
export class RegistrySnapshots {
  readonly #validators = new ListSnapshots({
    recordBytes: VALIDATOR_BYTES,
    recordsPerLeaf: 1,
    memoryOf: (leaves) => PackedValidator.memoryOf(leaves.map((leaf) => (leaf as BranchNodeStruct<unknown>).value)),
    readLeaves: (leaves, into) => {
      for (const [index, leaf] of leaves.entries()) {
        ssz.phase0.Validator.tree_serializeToBytes(into, index * VALIDATOR_BYTES, leaf);
      }
    },
  });
  readonly #balances = new ListSnapshots({
    recordBytes: BALANCE_BYTES,
    recordsPerLeaf: 4,
    readLeaves: (leaves, { dataView }) => packedNodeRootsToBytes(dataView, 0, dataView.byteLength, leaves),
  });

  validators(state: CachedBeaconStateAllForks, signal?: AbortSignal): Promise<Chunks> {
    state.commit();
    return this.#validators.of(state.validators, signal);
  }

  balances(state: CachedBeaconStateAllForks, signal?: AbortSignal): Promise<Chunks> {
    state.commit();
    return this.#balances.of(state.balances, signal);
  }
}

/** Returns a chain's snapshots, which all methods share. */
export const snapshotsOf = perChain(() => new RegistrySnapshots());

type List = CachedBeaconStateAllForks["validators"] | CachedBeaconStateAllForks["balances"];

interface ListFormat {
  recordBytes: number;
  /** Number of records per leaf of the tree. */
  recordsPerLeaf: number;
  /** Returns the memory of leaves that are already stored in the target format. */
  memoryOf?(leaves: Node[]): SharedArrayBuffer | undefined;
  readLeaves(leaves: Node[], into: ByteViews): void;
}

interface Snapshot {
  chunks: SharedArrayBuffer[];
  /** Chunks by the root of the subtree from which they were serialized. */
  bySubtree: ReadonlyMap<Node, SharedArrayBuffer>;
}

/**
 * Snapshots of one kind of list, by tree root. Trees are immutable, and versions of a list share unchanged subtrees,
 * whose chunks are reused.
 */
class ListSnapshots {
  readonly #format: ListFormat;
  readonly #cached = new LruMap<Node, Snapshot>(MAX_SNAPSHOTS);
  readonly #inFlight = new SingleFlight<Node, Snapshot>();

  constructor(format: ListFormat) {
    this.#format = format;
  }

  async of(list: List, signal: AbortSignal | undefined): Promise<Chunks> {
    const { node } = list;
    const cached = this.#cached.get(node);
    if (cached !== undefined) return cached.chunks;
    const { chunks } = await this.#inFlight.run(node, signal, async (throwIfAborted) => {
      const snapshot = await this.#create(list.type, node, throwIfAborted);
      this.#cached.set(node, snapshot);
      return snapshot;
    });
    return chunks;
  }

  async #create(type: List["type"], root: Node, throwIfAborted: () => void): Promise<Snapshot> {
    const { recordBytes, recordsPerLeaf, memoryOf, readLeaves } = this.#format;
    // The runs of a progressive list are in several subtrees, so its chunks are not reused.
    if (isProgressive(type as ArrayOfElements))
      return this.#createFromRuns(type as ArrayOfElements, root, throwIfAborted);
    const length = type.tree_getLength(root);
    const depth = Math.log2(VALIDATORS_PER_CHUNK / recordsPerLeaf);
    const chunkCount = Math.ceil(length / VALIDATORS_PER_CHUNK);
    const subtrees = getNodesAtDepth(type.tree_getChunksNode(root), type.chunkDepth - depth, 0, chunkCount);
    const chunks: SharedArrayBuffer[] = [];
    const bySubtree = new Map<Node, SharedArrayBuffer>();
    const slice = new TimeSlice();
    for (const [index, subtree] of subtrees.entries()) {
      throwIfAborted();
      const count = Math.min(VALIDATORS_PER_CHUNK, length - index * VALIDATORS_PER_CHUNK);
      let chunk = this.#findChunk(subtree, count * recordBytes);
      if (chunk === undefined) {
        const leaves = getNodesAtDepth(subtree, depth, 0, Math.ceil(count / recordsPerLeaf));
        chunk = memoryOf?.(leaves) ?? serializeLeaves(leaves, count * recordBytes, readLeaves);
      }
      chunks.push(chunk);
      bySubtree.set(subtree, chunk);
      await slice.yieldIfDue();
    }
    return { chunks, bySubtree };
  }

  async #createFromRuns(type: ArrayOfElements, root: Node, throwIfAborted: () => void): Promise<Snapshot> {
    const { recordBytes, recordsPerLeaf, memoryOf, readLeaves } = this.#format;
    const length = type.tree_getLength(root);
    const chunks: SharedArrayBuffer[] = [];
    const slice = new TimeSlice();
    for (let start = 0; start < length; start += VALIDATORS_PER_CHUNK) {
      throwIfAborted();
      const end = Math.min(start + VALIDATORS_PER_CHUNK, length);
      const leaves = nodesBetween(type, root, start / recordsPerLeaf, Math.ceil(end / recordsPerLeaf));
      chunks.push(memoryOf?.(leaves) ?? serializeLeaves(leaves, (end - start) * recordBytes, readLeaves));
      await slice.yieldIfDue();
    }
    return { chunks, bySubtree: new Map() };
  }

  #findChunk(subtree: Node, size: number): SharedArrayBuffer | undefined {
    for (const { bySubtree } of this.#cached.values()) {
      const chunk = bySubtree.get(subtree);
      if (chunk?.byteLength === size) return chunk;
    }
    return undefined;
  }
}

function serializeLeaves(leaves: Node[], bytes: number, read: ListFormat["readLeaves"]): SharedArrayBuffer {
  const chunk = new SharedArrayBuffer(bytes);
  read(leaves, viewsOf(chunk));
  return chunk;
}

function viewsOf(chunk: SharedArrayBuffer): ByteViews {
  return { uint8Array: new Uint8Array(chunk), dataView: new DataView(chunk) };
}
