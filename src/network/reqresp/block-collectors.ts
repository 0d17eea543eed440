import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlockRange } from "./beacon-requests.ts";
import { ProtocolViolation } from "./protocol-violation.ts";

/** Takes the blocks of a response one by one; one that does not belong there is a violation. */
export interface BlockCollector {
  readonly blocks: SignedBeaconBlock[];
  add(block: SignedBeaconBlock): void;
}

/** phase0/p2p-interface.md, BeaconBlocksByRange: consecutive blocks of a single chain. */
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
      throw new ProtocolViolation("A block is outside of the range that was asked for.");
    }
    const previous = this.blocks.at(-1);
    if (previous !== undefined) {
      if (slot <= previous.message.slot) throw new ProtocolViolation("The blocks are not in ascending order.");
      if (Buffer.compare(parentRoot, rootOf(this.#config, previous)) !== 0) {
        throw new ProtocolViolation("A block is not the child of the one before it.");
      }
    }
    this.blocks.push(block);
  }
}

/** phase0/p2p-interface.md, BeaconBlocksByRoot: some of the blocks that were asked for, each once. */
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
      throw new ProtocolViolation("A block was not asked for, or came twice.");
    }
    this.blocks.push(block);
  }
}

function rootOf(config: BeaconConfig, { message }: SignedBeaconBlock): Uint8Array {
  return config.getForkTypes(message.slot).BeaconBlock.hashTreeRoot(message);
}
