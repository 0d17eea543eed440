import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ZERO_HASH_HEX } from "@lodestar/params";
import {
  EngineUnavailableError,
  type ExecutionEngine,
  isReachable,
  type PayloadVerdict,
} from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { isUnverified } from "../fork-choice/payloads/payload-verification.ts";
import type { ForkChoiceBlock, ForkChoiceNode } from "../fork-choice/types.ts";
import { requestPayloadVerdict, terminalHashOf } from "../import/verify-payload.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import { blockHashOf, executionHashOf, forkchoiceState } from "./forkchoice-state.ts";
import { InvalidPayloadRetry } from "./invalid-payload-retry.ts";
import { type AskEngine, type AskedBlock, PayloadBackfill } from "./payload-backfill.ts";

interface EngineNotifierParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  payloads: PayloadStore;
  engine: ExecutionEngine;
  events: ChainEvents;
  logger: Logger;
  /** Applies a payload verdict to fork choice. */
  apply(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void>;
  /** Returns the block to send to the engine as head if the actual head is about to be reorged. */
  override(): ForkChoiceNode | undefined;
  /** Reinstates a rejected block that turned out to be valid. */
  reinstate(block: ForkChoiceBlock): Promise<void>;
}

const VALID: PayloadVerdict = { status: "valid" };

/**
 * Sends forkchoice updates to the execution engine and applies its verdicts to fork choice. While the head is
 * optimistic or the engine is syncing, repeats the forkchoice update every slot and sends missing payloads, oldest
 * first. Retries rejected blocks with backoff. Sends one request at a time, in the background.
 */
export class EngineNotifier {
  readonly #parts: EngineNotifierParts;
  readonly #backfill: PayloadBackfill;
  readonly #review: InvalidPayloadRetry;
  readonly #stopListening: (() => void)[];
  #isClosed = false;
  #isRequested = false;
  #isReachable: boolean;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  /** True if the last request failed. */
  #isUnanswered = false;
  /** True if the last forkchoice update named a different head than the chain's. */
  #isOverridden = false;
  /** Stops waiting for the pending request. */
  #abandon = () => {};

  constructor(parts: EngineNotifierParts) {
    const { events, engine } = parts;
    this.#parts = parts;
    this.#isReachable = isReachable(engine.state);
    const ask: AskEngine = (block, request) => this.#ask(block, request);
    this.#backfill = new PayloadBackfill({ ...parts, ask });
    this.#review = new InvalidPayloadRetry({ ...parts, ask, checkMerge: (block) => this.#checkMerge(block, VALID) });
    this.#stopListening = [
      events.on("head", () => this.notify()),
      events.on("headPayload", () => this.notify()),
      engine.onStateChange((state) => {
        if (isReachable(state) && !this.#isReachable) this.#resetBackoff();
        this.#isReachable = isReachable(state);
        if (this.#isReachable) this.notify();
      }),
    ];
  }

  /** Sends the current head once the pending request has finished. */
  notify(): void {
    this.#isRequested = true;
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Resolves when no request is pending. */
  async idle(): Promise<void> {
    await this.#running;
  }

  onSlot(): void {
    const { engine, forkChoice } = this.#parts;
    const isBehind =
      engine.state === "syncing" || forkChoice.payloadBlock(forkChoice.headNode)?.execution.status === "optimistic";
    if (this.#isUnanswered || this.#isOverridden || isBehind || this.#review.isDue) this.notify();
  }

  /** Stops without waiting for a pending response. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
    this.#abandon();
    await this.#running;
  }

  /** Resets all delays. The engine that reconnected may be a different one, or may have been fixed. */
  #resetBackoff(): void {
    this.#parts.forkChoice.retryBackoff.reset();
    this.#backfill.resetBackoff();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isRequested && !this.#isClosed) {
        this.#isRequested = false;
        await this.#sendHead();
        await this.#review.run();
      }
    } catch (error) {
      this.#parts.logger.error("Failed to process an execution engine response", { error });
    } finally {
      this.#isRunning = false;
    }
  }

  /** Sends the forkchoice update, and sends it again after sending missing payloads. */
  async #sendHead(): Promise<void> {
    const { config, forkChoice, engine } = this.#parts;
    for (let wasBackfilled = false; ; ) {
      const head = this.#headToSend();
      const blockHash = head ? blockHashOf(head) : executionHashOf(forkChoice, forkChoice.headNode);
      if (blockHash === null) return;
      const sent = head ?? forkChoice.head;
      const fork = config.getForkName(sent.slot) as ForkPostBellatrix;
      const answer = await this.#ask(sent, () =>
        engine.forkchoiceUpdated(fork, forkchoiceState(forkChoice, blockHash)),
      );
      // A payload from before the tree is final, so a verdict on it has no effect.
      if (!answer || !head || this.#isClosed) return;
      // A verdict that moves the head triggers the next notification.
      if (answer.verdict.status !== "optimistic") return this.#apply(head, answer.verdict);
      if (await this.#verifyOldest(head)) continue;
      if (wasBackfilled || !(await this.#backfill.run(head))) return;
      wasBackfilled = true;
    }
  }

  /**
   * Returns the block with the payload to send as head; undefined if it has been pruned. If the payload is invalid,
   * returns the newest ancestor whose payload is not, because a syncing engine can reach a new verdict only on such a
   * block.
   */
  #headToSend(): ForkChoiceBlock | undefined {
    const { forkChoice } = this.#parts;
    const override = this.#parts.override();
    this.#isOverridden = override !== undefined;
    const head = forkChoice.payloadBlock(override ?? forkChoice.headNode);
    if (override || head?.execution.status !== "invalid") return head;
    for (const block of forkChoice.payloadChain(head.root)) if (block.execution.status !== "invalid") return block;
    return head;
  }

  /**
   * Sends unverified payloads up to the head, oldest first, until the engine returns no verdict. Returns true if all
   * payloads were valid.
   */
  async #verifyOldest(head: ForkChoiceBlock): Promise<boolean> {
    const { forkChoice, blocks, payloads, engine } = this.#parts;
    if (!isReachable(engine.state)) return false;
    const unverified = forkChoice.optimisticAncestors(head.root).reverse();
    for (const block of unverified) {
      const signed = await blocks.signedByRoot(block.root);
      const newPayload = signed && (await payloads.payloadOf(signed, block.root));
      // The anchor block may not be stored.
      if (!newPayload) continue;
      const verdict = await this.#ask(block, () => requestPayloadVerdict(newPayload, engine));
      if (!verdict || verdict.status === "optimistic" || this.#isClosed) return false;
      await this.#apply(block, verdict);
      if (forkChoice.get(block.root)?.execution.status !== "valid") return false;
    }
    return unverified.length > 0;
  }

  async #apply(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void> {
    await this.#parts.apply(block, verdict.status === "valid" ? await this.#checkMerge(block, verdict) : verdict);
  }

  /**
   * sync/optimistic.md, "How to optimistically import blocks": once the merge transition block is found valid, its
   * parent must be a valid terminal PoW block.
   */
  async #checkMerge(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<PayloadVerdict> {
    const { forkChoice, blocks, engine } = this.#parts;
    let first: ForkChoiceBlock | undefined;
    for (const ancestor of forkChoice.payloadChain(block.root)) {
      if (!isUnverified(ancestor)) break;
      first = ancestor;
    }
    if (!first || forkChoice.get(first.parentRoot)?.execution.status !== "pre-merge") return verdict;
    const signed = await blocks.signedByRoot(first.root);
    if (!signed) return verdict;
    const terminalHash = terminalHashOf(signed);
    const judgement = await this.#ask(first, () => engine.judgeTerminalBlock(terminalHash));
    if (judgement === null) return { status: "optimistic" };
    if (judgement !== "not-terminal") return verdict;
    const message = `The parent ${terminalHash} of the merge transition block is not a valid terminal PoW block.`;
    return { status: "invalid", latestValidHash: ZERO_HASH_HEX, message };
  }

  /** Returns null if the engine is unavailable or the notifier is closed. */
  async #ask<T>({ slot, root }: AskedBlock, request: () => Promise<T>): Promise<T | null> {
    if (this.#isClosed) return null;
    try {
      // Racing each request against one long-lived promise would leak memory until close.
      const answer = await new Promise<T | null>((resolve, reject) => {
        this.#abandon = () => resolve(null);
        request().then(resolve, reject);
      });
      this.#isUnanswered = false;
      return answer;
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      const level = this.#isUnanswered ? "debug" : "warn";
      this.#parts.logger[level]("Execution engine unavailable, block not sent", { slot, root, error });
      this.#isUnanswered = true;
      return null;
    }
  }
}
