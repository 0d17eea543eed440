import type { BeaconConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import { attestationDueShare, untilMomentOfSlot } from "../clock/moment-of-slot.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import { BlockRejection } from "./block-rejection.ts";
import type { VerifiedBlock } from "./verify-block.ts";

/** Each is held with a state. They are siblings, as nothing that builds on them is verified. */
const MAX_BLOCKS = 16;
/** Of one proposer in one slot, who may have signed any number. */
const MAX_BLOCKS_PER_PROPOSAL = 2;

interface BlocksAwaitingDataParts {
  config: BeaconConfig;
  clock: Clock;
  data: DataAvailability;
  logger: Logger;
  /** Takes a verified block onto the chain; tells how many blocks were new to it. */
  commit(block: VerifiedBlock): Promise<number>;
}

interface HeldBlock {
  block: VerifiedBlock;
  dropping: AbortController;
  /** What those are told who wait for the block. */
  answer: Promise<number>;
  /** Settles when the block is on the chain or is held no longer. */
  end: Promise<unknown>;
}

/**
 * Blocks that are in order but for their data (fork-choice.md of deneb and fulu, is_data_available). They are held with the states that
 * they lead to, and imported when the data is there. Their descendants wait elsewhere, because they are blocks with an unknown parent.
 */
export class BlocksAwaitingData {
  readonly #parts: BlocksAwaitingDataParts;
  readonly #blocks = new Map<RootHex, HeldBlock>();

  constructor(parts: BlocksAwaitingDataParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#blocks.size;
  }

  has(root: RootHex): boolean {
    return this.#blocks.has(root);
  }

  /** What those are told who wait for a block that is held, as `hold` tells it. */
  answerOf(root: RootHex): Promise<number> | undefined {
    return this.#blocks.get(root)?.answer;
  }

  /**
   * Holds a block, and tells when it has been imported. Rejects with a `BlockRejection` when that has not come to pass until
   * attestations are due in the next slot: by then the validators of two slots have voted without the block, and nobody who asked for it
   * can act on it any more. It is held nevertheless.
   */
  hold(block: VerifiedBlock): Promise<number> {
    const { root } = block;
    const held = this.#blocks.get(root);
    if (held) return held.answer;
    const dropping = new AbortController();
    const ended = new AbortController();
    const imported = this.#importWhenComplete(block, dropping.signal).finally(() => {
      this.#blocks.delete(root);
      ended.abort();
    });
    const answer = Promise.race([imported, this.#patience(block, imported, ended.signal)]);
    // The block is imported, or not, whether or not somebody waits for it.
    answer.catch(() => undefined);
    const end = imported.catch((error: unknown) => this.#note(block, error));
    this.#blocks.set(root, { block, dropping, answer, end });
    this.#makeRoomFor(block);
    return answer;
  }

  /** Lets go of the blocks that the check throws for, with what it throws. */
  dropUnfit(check: (block: VerifiedBlock) => void): void {
    for (const { block, dropping } of [...this.#blocks.values()]) {
      try {
        check(block);
      } catch (error) {
        dropping.abort(error);
      }
    }
  }

  dropAll(): void {
    for (const held of [...this.#blocks.values()]) this.#drop(held);
  }

  /** Lets go of all, and ends when those are on the chain that were just being imported. */
  async close(): Promise<void> {
    const ends = [...this.#blocks.values()].map(({ end }) => end);
    this.dropAll();
    await Promise.all(ends);
  }

  async #importWhenComplete(block: VerifiedBlock, signal: AbortSignal): Promise<number> {
    await this.#parts.data.whenAvailable(block, signal);
    return this.#parts.commit(block);
  }

  /** Rejects when nobody is to wait any longer, unless the block is being imported by then. */
  async #patience(block: VerifiedBlock, imported: Promise<number>, ended: AbortSignal): Promise<number> {
    const { config, clock, data, logger } = this.#parts;
    const isOver = await untilMomentOfSlot(clock, clock.currentSlot + 1, attestationDueShare(config), ended);
    if (ended.aborted || data.missing(block).length === 0) return imported;
    const rejection = data.unavailable(block);
    const { slot, root, message } = rejection;
    if (isOver) logger.warn("A block is held until its data comes", { slot, root, message });
    throw rejection;
  }

  #note({ signed, root }: VerifiedBlock, error: unknown): void {
    const level = error instanceof BlockRejection ? "debug" : "error";
    const { slot } = signed.message;
    this.#parts.logger[level]("A block that waited for its data is not imported", { slot, root, error });
  }

  /** The network brings what finds no room here again. */
  #makeRoomFor({ root: added, signed: { message } }: VerifiedBlock): void {
    const others = [...this.#blocks.values()].filter(({ block }) => block.root !== added);
    const ofProposal = others.filter(({ block: { signed } }) => {
      const { slot, proposerIndex } = signed.message;
      return slot === message.slot && proposerIndex === message.proposerIndex;
    });
    const [first] = ofProposal;
    if (first && ofProposal.length >= MAX_BLOCKS_PER_PROPOSAL) this.#drop(first);
    else if (others.length >= MAX_BLOCKS) this.#drop(others.reduce((a, b) => (slotOf(b) < slotOf(a) ? b : a)));
  }

  #drop({ block, dropping }: HeldBlock): void {
    dropping.abort(this.#parts.data.unavailable(block));
  }
}

const slotOf = ({ block }: HeldBlock) => block.signed.message.slot;
