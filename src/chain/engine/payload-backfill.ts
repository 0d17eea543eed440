import { ZERO_HASH_HEX } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { EngineBlock, ExecutionEngine, PayloadVerdict } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { bidOf } from "../blocks/bid.ts";
import type { BlockPosition, BlockStore, ChainBlock } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { Backoff } from "../fork-choice/payloads/backoff.ts";
import { executionBlockOf, type ForkChoiceBlock } from "../fork-choice/types.ts";
import { requestPayloadVerdict } from "../import/verify-payload.ts";
import type { NewPayload } from "../payloads/new-payload.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import { blockHashOf } from "./forkchoice-state.ts";

/** Number of blocks between two forkchoice updates, which make the engine persist the received payloads. */
const BLOCKS_BETWEEN_HEADS = 32;

export type AskedBlock = Pick<BlockPosition, "slot" | "root">;

/**
 * Sends a request about a block to the engine. Returns null if the engine is unavailable or the response is obsolete.
 */
export type AskEngine = <T>(block: AskedBlock, request: () => Promise<T>) => Promise<T | null>;

interface BackfillResult {
  /** True if all payloads up to the head were accepted. */
  isComplete: boolean;
  /** True if the engine returned a verdict on at least one payload. */
  hasVerdict: boolean;
}

interface BlockWithPayload {
  block: ChainBlock;
  newPayload: NewPayload;
}

interface PayloadBackfillParts {
  forkChoice: ForkChoice;
  blocks: BlockStore;
  payloads: Pick<PayloadStore, "payloadOf">;
  engine: ExecutionEngine;
  logger: Logger;
  ask: AskEngine;
}

/**
 * Sends an execution engine the payloads it lacks, for example after the engine has lost its data. Starts after the
 * engine's latest block, oldest first. Includes payloads that are already verified, because an engine without peers
 * cannot get them elsewhere. If the engine syncs from its own peers, it returns SYNCING for the first payload, and the
 * backfill stops. Repeated attempts from the same latest block back off exponentially.
 */
export class PayloadBackfill {
  readonly #parts: PayloadBackfillParts;
  /** Keyed by the engine's latest block at the last attempt. */
  readonly #backoff = new Backoff();

  constructor(parts: PayloadBackfillParts) {
    this.#parts = parts;
  }

  /** Returns true if payloads were sent and the engine now has all payloads up to the head. */
  async run(head: ForkChoiceBlock): Promise<boolean> {
    const { forkChoice, engine, ask } = this.#parts;
    const latest = await ask(head, async () => (await engine.latestBlock?.()) ?? null);
    if (latest === null || latest.hash === blockHashOf(head)) return false;
    if (!this.#backoff.isDue(latest.hash, forkChoice.currentSlot)) return false;
    const first = await this.#firstMissing(latest, head);
    if (first === null) return false;
    const { isComplete, hasVerdict } = await this.#send(first, head);
    if (hasVerdict) this.#backoff.schedule(latest.hash, forkChoice.currentSlot);
    return isComplete;
  }

  /** Resets the backoff. Called when the engine reconnects, since it may be a different engine or have been fixed. */
  resetBackoff(): void {
    this.#backoff.reset();
  }

  /** Returns the slot of the first block to send; null if that block is unknown or not stored. */
  async #firstMissing(latest: EngineBlock, head: ForkChoiceBlock): Promise<Slot | null> {
    const { forkChoice } = this.#parts;
    const slot = await this.#firstAbove(latest.number, head);
    const next = slot === null ? null : await this.#payloadAt(slot);
    if (next && toRootHex(next.newPayload.payload.parentHash) === latest.hash) return slot;
    // If the engine is on another branch, the last common block is no later than the finalized block.
    const payload = executionBlockOf(forkChoice.get(forkChoice.finalized.root) ?? head);
    if (payload === null || payload.blockNumber > latest.number) return null;
    return this.#firstAbove(payload.blockNumber, head);
  }

  /**
   * Finds, by binary search, the first slot up to the head whose payload number exceeds `number`. Returns null if even
   * the head's payload number does not exceed `number`.
   */
  async #firstAbove(number: number, head: ForkChoiceBlock): Promise<Slot | null> {
    const payload = executionBlockOf(head);
    if (payload === null || payload.blockNumber <= number) return null;
    let [below, above] = [-1, head.slot];
    while (above - below > 1) {
      const middle = Math.floor((below + above) / 2);
      if ((await this.#numberAtOrBefore(middle)) > number) above = middle;
      else below = middle;
    }
    return above;
  }

  /** Returns 0 if there is no payload, or its block is not stored. */
  async #numberAtOrBefore(slot: Slot): Promise<number> {
    const { blocks } = this.#parts;
    for (let before = slot; ; ) {
      const root = await blocks.rootAtOrBefore(before);
      const signed = root === null ? null : await blocks.signedByRoot(root);
      if (!signed) return 0;
      const found = await this.#payloadAt(signed.message.slot);
      if (found) return found.newPayload.payload.blockNumber;
      before = signed.message.slot - 1;
    }
  }

  /** Returns the canonical block of the slot with its payload; null if there is none, or the block is empty. */
  async #payloadAt(slot: Slot): Promise<BlockWithPayload | null> {
    const { blocks, payloads } = this.#parts;
    const block = await blocks.canonicalAtSlot(slot);
    const newPayload = block && (await payloads.payloadOf(block.signed, block.root));
    return newPayload && (await this.#isFull(block)) ? { block, newPayload } : null;
  }

  /** True if the chain continues on the block's payload. Before gloas, the payload is part of the block. */
  async #isFull({ signed, root }: ChainBlock): Promise<boolean> {
    const { blocks, forkChoice } = this.#parts;
    const bid = bidOf(signed.message);
    if (!bid) return true;
    if (forkChoice.headNode.root === root) return forkChoice.headNode.payloadStatus === "full";
    const child = (await blocks.childrenOf(root)).find(({ canonical }) => canonical);
    const next = child && bidOf(child.signed.message);
    return next !== undefined && byteArrayEquals(next.parentBlockHash, bid.blockHash);
  }

  async #send(first: Slot, head: ForkChoiceBlock): Promise<BackfillResult> {
    const { logger } = this.#parts;
    const progress = new Progress({ message: "Payload backfill", logger });
    let sentCount = 0;
    for (let slot = first; slot <= head.slot; slot++) {
      const found = await this.#payloadAt(slot);
      if (!found) continue;
      const status = await this.#sendPayload(found);
      if (status !== "valid") return { isComplete: false, hasVerdict: sentCount > 0 || status === "invalid" };
      if (sentCount === 0) logger.notice("Payload backfill started", { slot, head: head.slot });
      sentCount++;
      progress.report(slot - first, head.slot - first, () => ({ slot }));
      if (sentCount % BLOCKS_BETWEEN_HEADS === 0 && !(await this.#setHead(found))) {
        return { isComplete: false, hasVerdict: true };
      }
    }
    if (sentCount > 0) logger.notice("Payload backfill completed", { blocks: sentCount });
    return { isComplete: sentCount > 0, hasVerdict: sentCount > 0 };
  }

  async #sendPayload({ block, newPayload }: BlockWithPayload): Promise<PayloadVerdict["status"] | null> {
    const { engine, logger, ask } = this.#parts;
    const verdict = await ask(block, () => requestPayloadVerdict(newPayload, engine));
    if (verdict?.status === "invalid") {
      const { slot, root } = block;
      logger.error("Execution client rejected a backfilled payload; check the client", {
        slot,
        root,
        message: verdict.message,
      });
    }
    return verdict?.status ?? null;
  }

  async #setHead({ block, newPayload }: BlockWithPayload): Promise<boolean> {
    const { engine, ask } = this.#parts;
    const state = {
      headBlockHash: toRootHex(newPayload.payload.blockHash),
      safeBlockHash: ZERO_HASH_HEX,
      finalizedBlockHash: ZERO_HASH_HEX,
      isBehind: true,
    };
    return (await ask(block, () => engine.forkchoiceUpdated(newPayload.fork, state))) !== null;
  }
}
