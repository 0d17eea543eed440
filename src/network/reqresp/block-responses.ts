import type { BeaconConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type RootHex, type SignedBeaconBlock, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { deserializeExactly } from "../deserialize-exactly.ts";
import { ProtocolViolation } from "./errors.ts";
import type { BlockRange } from "./interface.ts";
import type { Protocol } from "./protocols.ts";
import type { ChunkFormat, ResponseChunk } from "./response-chunk.ts";

/** Collects the blocks from a response. `add` throws a `ProtocolViolation` if a block violates the protocol. */
export interface BlockCollector {
  readonly blocks: SignedBeaconBlock[];
  add(block: SignedBeaconBlock): void;
}

/**
 * Validates a BeaconBlocksByRange response: consecutive blocks on one chain within the range (phase0/p2p-interface.md).
 */
export class RangeCollector implements BlockCollector {
  readonly blocks: SignedBeaconBlock[] = [];
  readonly #config: BeaconConfig;
  readonly #range: BlockRange;

  constructor(config: BeaconConfig, range: BlockRange) {
    this.#config = config;
    this.#range = range;
  }

  add(block: SignedBeaconBlock): void {
    const { slot, parentRoot } = block.message;
    const { startSlot, count } = this.#range;
    if (slot < startSlot || slot >= startSlot + count) {
      throw new ProtocolViolation("A block is outside the requested range.");
    }
    const previous = this.blocks.at(-1);
    if (previous !== undefined) {
      if (slot <= previous.message.slot) throw new ProtocolViolation("The blocks are not in ascending order.");
      if (Buffer.compare(parentRoot, rootOf(this.#config, previous)) !== 0) {
        throw new ProtocolViolation("A block is not a child of the preceding block.");
      }
    }
    this.blocks.push(block);
  }
}

/**
 * Validates a BeaconBlocksByRoot response: a subset of the requested blocks, each at most once
 * (phase0/p2p-interface.md).
 */
export class RootCollector implements BlockCollector {
  readonly blocks: SignedBeaconBlock[] = [];
  readonly #config: BeaconConfig;
  readonly #missing: Set<RootHex>;

  constructor(config: BeaconConfig, roots: Iterable<RootHex>) {
    this.#config = config;
    this.#missing = new Set(roots);
  }

  add(block: SignedBeaconBlock): void {
    if (!this.#missing.delete(toRootHex(rootOf(this.#config, block)))) {
      throw new ProtocolViolation("A block was not requested or is a duplicate.");
    }
    this.blocks.push(block);
  }
}

/**
 * Validates a BeaconBlocksByHead response: the requested block and its ancestors in descending order
 * (fulu/p2p-interface.md).
 */
export class AncestryCollector implements BlockCollector {
  readonly blocks: SignedBeaconBlock[] = [];
  readonly #config: BeaconConfig;
  #next: RootHex;

  constructor(config: BeaconConfig, root: RootHex) {
    this.#config = config;
    this.#next = root;
  }

  add(block: SignedBeaconBlock): void {
    if (toRootHex(rootOf(this.#config, block)) !== this.#next) {
      throw new ProtocolViolation("A block is neither the requested one nor the parent of the preceding block.");
    }
    this.#next = toRootHex(block.message.parentRoot);
    this.blocks.push(block);
  }
}

function rootOf(config: BeaconConfig, { message }: SignedBeaconBlock): Uint8Array {
  return config.getForkTypes(message.slot).BeaconBlock.hashTreeRoot(message);
}

/** Returns the chunk format for blocks. Version 1 has no fork digest and can only carry phase0 blocks. */
export function blockFormat(config: BeaconConfig, { name, version }: Protocol): ChunkFormat {
  return {
    hasForkDigest: version > 1 || name === "beacon_blocks_by_head",
    boundsOf: (forkDigest) => sszTypesFor(forkOf(config, forkDigest)).SignedBeaconBlock,
  };
}

/** Decodes a block. The fork digest must match the block's epoch (altair/p2p-interface.md, BeaconBlocksByRange v2). */
export function decodeBlock(config: BeaconConfig, { forkDigest, bytes }: ResponseChunk): SignedBeaconBlock {
  const fork = forkOf(config, forkDigest);
  const block = deserialize(fork, bytes);
  const boundary = config.getForkBoundaryAtEpoch(computeEpochAtSlot(block.message.slot));
  const matches =
    forkDigest.length === 0
      ? boundary.fork === fork
      : Buffer.compare(config.forkBoundary2ForkDigest(boundary), forkDigest) === 0;
  if (!matches) throw new ProtocolViolation("The fork digest of a block does not match its slot.");
  return block;
}

function forkOf(config: BeaconConfig, forkDigest: Uint8Array): ForkName {
  if (forkDigest.length === 0) return ForkName.phase0;
  const boundary = config.forkDigest2ForkBoundaryOption(forkDigest);
  if (boundary === null) throw new ProtocolViolation("The fork digest of a block is unknown.");
  return boundary.fork;
}

function deserialize(fork: ForkName, bytes: Uint8Array): SignedBeaconBlock {
  try {
    return deserializeExactly<SignedBeaconBlock>(sszTypesFor(fork).SignedBeaconBlock, bytes);
  } catch {
    throw new ProtocolViolation("A block cannot be decoded.");
  }
}
