import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ForkSeq, ZERO_HASH_HEX } from "@lodestar/params";
import type { bellatrix, ExecutionPayload, SignedBeaconBlock, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { EngineBlock, ExecutionEngine, PayloadVerdict } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import type { BlockPosition, BlockStore, ChainBlock } from "./blocks/block-store.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import { blockHashOf } from "./forkchoice-state.ts";
import { GrowingPauses } from "./growing-pauses.ts";
import { askAbout } from "./import/verify-payload.ts";

/** How often the engine is told to take the last block as its head, so that it keeps what it was given. */
const BLOCKS_BETWEEN_HEADS = 32;

export type AskedBlock = Pick<BlockPosition, "slot" | "root">;

/** Asks the engine about a block. Null when there is no answer, or none that matters any more. */
export type AskEngine = <T>(block: AskedBlock, request: () => Promise<T>) => Promise<T | null>;

interface Given {
  /** All blocks up to the head. */
  isComplete: boolean;
  /** The engine could tell of any of them. */
  wasJudged: boolean;
}

interface EngineFeedingParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  engine: ExecutionEngine;
  logger: Logger;
  ask: AskEngine;
}

/**
 * Brings an execution engine to the head that lacks blocks of the chain, such as one that lost its data. It is given all that come
 * after the newest of its own, the oldest first, also those whose payloads were found valid long ago: an engine without peers gets
 * them nowhere else. One that is about to get them from its peers cannot tell of the first that it is given, and is left to it. One
 * whose newest block stays the same although it was given what comes after that is given it again less and less often.
 */
export class EngineFeeding {
  readonly #parts: EngineFeedingParts;
  /** By the newest block that the engine had when it was last given blocks. */
  readonly #pauses = new GrowingPauses();

  constructor(parts: EngineFeedingParts) {
    this.#parts = parts;
  }

  /** True when the engine was given blocks and has all up to the head now. */
  async feed(head: ForkChoiceBlock): Promise<boolean> {
    const { forkChoice, engine, ask } = this.#parts;
    const latest = await ask(head, async () => (await engine.latestBlock?.()) ?? null);
    if (latest === null || latest.hash === blockHashOf(head)) return false;
    if (!this.#pauses.isOver(latest.hash, forkChoice.currentSlot)) return false;
    const first = await this.#firstMissing(latest, head);
    if (first === null) return false;
    const { isComplete, wasJudged } = await this.#give(first, head);
    if (wasJudged) this.#pauses.begin(latest.hash, forkChoice.currentSlot);
    return isComplete;
  }

  /** The engine may be another one, or mended. */
  endPauses(): void {
    this.#pauses.end();
  }

  /** The slot of the first block to be given; null when that is not known, or the node does not hold it. */
  async #firstMissing(latest: EngineBlock, head: ForkChoiceBlock): Promise<Slot | null> {
    const { forkChoice, blocks } = this.#parts;
    const slot = await this.#firstAbove(latest.number, head);
    const next = slot === null ? null : await blocks.canonicalAtSlot(slot);
    if (next && toRootHex(payloadOf(next.signed).parentHash) === latest.hash) return slot;
    // On another branch than the chain, the engine has in common with it what is final, if anything.
    const { execution } = forkChoice.get(forkChoice.finalized.root) ?? head;
    if (execution.status === "pre-merge" || execution.blockNumber > latest.number) return null;
    return this.#firstAbove(execution.blockNumber, head);
  }

  /** The slot of the first block up to the head whose payload has a greater number; null when not even the head's has. */
  async #firstAbove(number: number, { slot, execution }: ForkChoiceBlock): Promise<Slot | null> {
    if (execution.status === "pre-merge" || execution.blockNumber <= number) return null;
    let [below, above] = [-1, slot];
    while (above - below > 1) {
      const middle = Math.floor((below + above) / 2);
      if ((await this.#numberAtOrBefore(middle)) > number) above = middle;
      else below = middle;
    }
    return above;
  }

  /** Zero for a block without a payload, and for one that the node does not hold. */
  async #numberAtOrBefore(slot: Slot): Promise<number> {
    const { config, blocks } = this.#parts;
    const root = await blocks.rootAtOrBefore(slot);
    const signed = root === null ? null : await blocks.signedByRoot(root);
    if (!signed || config.getForkSeq(signed.message.slot) < ForkSeq.bellatrix) return 0;
    return payloadOf(signed).blockNumber;
  }

  async #give(first: Slot, head: ForkChoiceBlock): Promise<Given> {
    const { blocks, logger } = this.#parts;
    const progress = new Progress({ message: "Giving the execution client the blocks that it lacks", logger });
    let given = 0;
    for (let slot = first; slot <= head.slot; slot++) {
      const block = await blocks.canonicalAtSlot(slot);
      if (!block) continue;
      const status = await this.#giveOne(block);
      if (status !== "valid") return { isComplete: false, wasJudged: given > 0 || status === "invalid" };
      if (given === 0) logger.notice("The execution client lacks blocks and is given them", { slot, head: head.slot });
      given++;
      progress.report(slot - first, head.slot - first, () => ({ slot }));
      if (given % BLOCKS_BETWEEN_HEADS === 0 && !(await this.#setHead(block))) {
        return { isComplete: false, wasJudged: true };
      }
    }
    if (given > 0) logger.notice("The execution client has been given the blocks that it lacked", { blocks: given });
    return { isComplete: given > 0, wasJudged: given > 0 };
  }

  async #giveOne(block: ChainBlock): Promise<PayloadVerdict["status"] | null> {
    const { config, engine, logger, ask } = this.#parts;
    const verdict = await ask(block, () => askAbout(block.signed, config, engine));
    if (verdict?.status === "invalid") {
      const { slot, root } = block;
      logger.error("The execution client refuses a block that it lacks; look after it", {
        slot,
        root,
        message: verdict.message,
      });
    }
    return verdict?.status ?? null;
  }

  async #setHead(block: ChainBlock): Promise<boolean> {
    const { config, engine, ask } = this.#parts;
    const state = {
      headBlockHash: toRootHex(payloadOf(block.signed).blockHash),
      safeBlockHash: ZERO_HASH_HEX,
      finalizedBlockHash: ZERO_HASH_HEX,
      isBehind: true,
    };
    const fork = config.getForkName(block.slot) as ForkPostBellatrix;
    return (await ask(block, () => engine.forkchoiceUpdated(fork, state))) !== null;
  }
}

const payloadOf = ({ message }: SignedBeaconBlock): ExecutionPayload =>
  (message.body as bellatrix.BeaconBlockBody).executionPayload;
