import type { BeaconConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import { bidOf } from "../blocks/bid.ts";
import type { Clock } from "../clock/clock.ts";
import { attestationDueShare, untilTimeInSlot } from "../clock/slot-timing.ts";
import type { BlockWithCommitments } from "../data/block-with-commitments.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import { BlockRejection } from "./block-rejection.ts";

/**
 * Each waiting block retains its post-state, and each waiting payload its transactions. The blocks are siblings, because
 * children of pending blocks are not verified.
 */
const MAX_BLOCKS = 16;
/** Limit per proposer and slot. An equivocating proposer can sign any number of blocks. */
const MAX_BLOCKS_PER_PROPOSAL = 2;

interface AwaitingDataParts<T> {
  config: BeaconConfig;
  clock: Clock;
  data: DataAvailability;
  logger: Logger;
  /** Imports a verified block or payload. Returns the number of new ones. */
  commit(block: T): Promise<number>;
}

interface HeldBlock<T> {
  block: T;
  dropping: AbortController;
  /** Result for callers waiting for the block. */
  answer: Promise<number>;
  /** Settles when the block is imported or dropped. */
  end: Promise<unknown>;
}

/**
 * Verified blocks, or since gloas verified payloads of blocks, waiting for blobs or data columns (is_data_available in
 * fork-choice.md of deneb and fulu). Imports them once the data is available. Their descendants wait elsewhere, for
 * their parent or its payload.
 */
export class AwaitingData<T extends BlockWithCommitments> {
  readonly #parts: AwaitingDataParts<T>;
  readonly #blocks = new Map<RootHex, HeldBlock<T>>();

  constructor(parts: AwaitingDataParts<T>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#blocks.size;
  }

  has(root: RootHex): boolean {
    return this.#blocks.has(root);
  }

  /** Returns the pending result of a waiting block. */
  answerOf(root: RootHex): Promise<number> | undefined {
    return this.#blocks.get(root)?.answer;
  }

  /**
   * Adds a block and resolves when it is imported. Rejects with a `BlockRejection` at the attestation deadline of the
   * next slot, when callers can no longer act on the result. The block keeps waiting for its data.
   */
  hold(block: T): Promise<number> {
    const { root } = block;
    const heldBlock = this.#blocks.get(root);
    if (heldBlock) return heldBlock.answer;
    const dropping = new AbortController();
    const ended = new AbortController();
    const imported = this.#importWhenComplete(block, dropping.signal).finally(() => {
      this.#blocks.delete(root);
      ended.abort();
    });
    const answer = Promise.race([imported, this.#patience(block, imported, ended.signal)]);
    // The import continues even if no caller is waiting.
    answer.catch(() => undefined);
    const end = imported.catch((error: unknown) => this.#note(block, error));
    this.#blocks.set(root, { block, dropping, answer, end });
    this.#makeRoomFor(block);
    return answer;
  }

  /** Drops the blocks for which `check` throws, and rejects their imports with that error. */
  dropUnfit(check: (block: T) => void): void {
    for (const { block, dropping } of [...this.#blocks.values()]) {
      try {
        check(block);
      } catch (error) {
        dropping.abort(error);
      }
    }
  }

  dropAll(): void {
    for (const heldBlock of [...this.#blocks.values()]) this.#drop(heldBlock);
  }

  /** Drops all blocks and waits for imports in progress. */
  async close(): Promise<void> {
    const ends = [...this.#blocks.values()].map(({ end }) => end);
    this.dropAll();
    await Promise.all(ends);
  }

  async #importWhenComplete(block: T, signal: AbortSignal): Promise<number> {
    await this.#parts.data.whenAvailable(block, signal);
    return this.#parts.commit(block);
  }

  /** Rejects at the deadline unless the import is already in progress. */
  async #patience(block: T, imported: Promise<number>, ended: AbortSignal): Promise<number> {
    const { config, clock, data, logger } = this.#parts;
    const deadlineSlot = clock.currentSlot + 1;
    const isOver = await untilTimeInSlot(clock, deadlineSlot, attestationDueShare(config, deadlineSlot), ended);
    if (ended.aborted || data.missing(block).length === 0) return imported;
    const rejection = data.unavailable(block);
    const { slot, root, message } = rejection;
    const line = bidOf(block.signed.message) ? "Payload waits for missing data" : "Block waits for missing data";
    if (isOver) logger.warn(line, { slot, root, message });
    throw rejection;
  }

  #note({ signed, root }: T, error: unknown): void {
    const level = error instanceof BlockRejection ? "debug" : "error";
    const { slot } = signed.message;
    this.#parts.logger[level]("Block with missing data not imported", { slot, root, error });
  }

  /** Evicts blocks. They can be fetched from the network again. */
  #makeRoomFor({ root: added, signed: { message } }: T): void {
    const otherBlocks = [...this.#blocks.values()].filter(({ block }) => block.root !== added);
    const ofProposal = otherBlocks.filter(({ block: { signed } }) => {
      const { slot, proposerIndex } = signed.message;
      return slot === message.slot && proposerIndex === message.proposerIndex;
    });
    const [first] = ofProposal;
    if (first && ofProposal.length >= MAX_BLOCKS_PER_PROPOSAL) this.#drop(first);
    else if (otherBlocks.length >= MAX_BLOCKS)
      this.#drop(otherBlocks.reduce((a, b) => (slotOf(b) < slotOf(a) ? b : a)));
  }

  #drop({ block, dropping }: HeldBlock<T>): void {
    dropping.abort(this.#parts.data.unavailable(block));
  }
}

const slotOf = ({ block }: HeldBlock<BlockWithCommitments>) => block.signed.message.slot;
