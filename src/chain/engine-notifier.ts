import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostBellatrix, ZERO_HASH_HEX } from "@lodestar/params";
import { EngineUnavailableError, type ExecutionEngine, isReachable, type PayloadVerdict } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import { type AskEngine, type AskedBlock, EngineFeeding } from "./engine-feeding.ts";
import type { ChainEvents } from "./events.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import { blockHashOf, forkchoiceState } from "./forkchoice-state.ts";
import { askAbout, terminalHashOf } from "./import/verify-payload.ts";
import { isUnverified } from "./payload-verification.ts";
import { RefusalReview } from "./refusal-review.ts";

interface EngineNotifierParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  engine: ExecutionEngine;
  events: ChainEvents;
  logger: Logger;
  /** Draws the consequences of a verdict on a block. */
  apply(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void>;
  /** The block to keep the engine at instead of a head that is about to be orphaned. */
  override(): ForkChoiceBlock | undefined;
  /** Follows a block that was refused, and is found valid now. */
  takeBack(block: ForkChoiceBlock): Promise<void>;
}

const VALID: PayloadVerdict = { status: "valid" };

/**
 * Keeps the execution engine at the head of the chain, and the chain at what the engine thinks of it. While the head's payload is
 * not validated, or the engine is syncing, it is told in every slot, and payloads that the engine cannot get elsewhere are given to
 * it, oldest first. About what the engine refused it is asked again after a while. All of that happens behind the chain's back, one request at a time.
 */
export class EngineNotifier {
  readonly #parts: EngineNotifierParts;
  readonly #feeding: EngineFeeding;
  readonly #review: RefusalReview;
  readonly #stopListening: (() => void)[];
  #isClosed = false;
  #isWanted = false;
  #isReachable: boolean;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  /** Whether the engine has not answered since it was last told. */
  #isUnanswered = false;
  /** Whether the engine was told another block than the head. */
  #isOverridden = false;
  /** Ends the wait for the answer that is still to come. */
  #giveUp = () => {};

  constructor(parts: EngineNotifierParts) {
    const { events, engine } = parts;
    this.#parts = parts;
    this.#isReachable = isReachable(engine.state);
    const ask: AskEngine = (block, request) => this.#ask(block, request);
    this.#feeding = new EngineFeeding({ ...parts, ask });
    this.#review = new RefusalReview({ ...parts, ask, judgeMerge: (block) => this.#judgeMerge(block, VALID) });
    this.#stopListening = [
      events.on("head", () => this.notify()),
      engine.onStateChange((state) => {
        if (isReachable(state) && !this.#isReachable) this.#endPauses();
        this.#isReachable = isReachable(state);
        if (this.#isReachable) this.notify();
      }),
    ];
  }

  /** Tells the engine the head of now, as soon as it has answered what was asked before. */
  notify(): void {
    this.#isWanted = true;
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Resolves when the engine has answered all that it is asked now. */
  async idle(): Promise<void> {
    await this.#running;
  }

  onSlot(): void {
    const { engine, forkChoice } = this.#parts;
    const isBehind = engine.state === "syncing" || forkChoice.head.execution.status === "optimistic";
    if (this.#isUnanswered || this.#isOverridden || isBehind || this.#review.isDue) this.notify();
  }

  /** Resolves when nothing is under way any more. An answer that is still to come is not waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
    this.#giveUp();
    await this.#running;
  }

  /** Whoever comes back may be another client, or mended. */
  #endPauses(): void {
    this.#parts.forkChoice.refusals.end();
    this.#feeding.endPauses();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isClosed) {
        this.#isWanted = false;
        await this.#tellHead();
        await this.#review.run();
      }
    } catch (error) {
      this.#parts.logger.error("What the execution engine says of the chain could not be used", { error });
    } finally {
      this.#isRunning = false;
    }
  }

  /** Tells it again when payloads that the engine lacked have been given to it. */
  async #tellHead(): Promise<void> {
    const { config, forkChoice, engine } = this.#parts;
    for (let wasFed = false; ; ) {
      const head = this.#headToTell();
      const blockHash = blockHashOf(head);
      if (blockHash === null) return;
      const fork = config.getForkName(head.slot) as ForkPostBellatrix;
      const answer = await this.#ask(head, () =>
        engine.forkchoiceUpdated(fork, forkchoiceState(forkChoice, blockHash)),
      );
      if (!answer || this.#isClosed) return;
      // A verdict that moves the head brings the next notification with it.
      if (answer.verdict.status !== "optimistic") return this.#apply(head, answer.verdict);
      if (await this.#verifyOldest(head)) continue;
      if (wasFed || !(await this.#feeding.feed(head))) return;
      wasFed = true;
    }
  }

  /**
   * Where there is no head but one that the engine refuses, it is kept at what that builds on: an engine that has to sync can only then
   * tell whether the refusal was right.
   */
  #headToTell(): ForkChoiceBlock {
    const { forkChoice } = this.#parts;
    const { head } = forkChoice;
    const override = this.#parts.override();
    this.#isOverridden = override !== undefined;
    if (override) return override;
    if (head.execution.status !== "invalid") return head;
    for (const block of forkChoice.ancestors(head.root)) if (block.execution.status !== "invalid") return block;
    return head;
  }

  /** Gives the engine the payloads up to the head that it has not validated, until it cannot tell of one. True when it knew all. */
  async #verifyOldest(head: ForkChoiceBlock): Promise<boolean> {
    const { config, forkChoice, blocks, engine } = this.#parts;
    if (!isReachable(engine.state)) return false;
    const unverified = forkChoice.optimisticAncestors(head.root).reverse();
    for (const block of unverified) {
      const signed = await blocks.signedByRoot(block.root);
      // The block that the chain was started from need not be held.
      if (!signed) continue;
      const verdict = await this.#ask(block, () => askAbout(signed, config, engine));
      if (!verdict || verdict.status === "optimistic" || this.#isClosed) return false;
      await this.#apply(block, verdict);
      if (forkChoice.get(block.root)?.execution.status !== "valid") return false;
    }
    return unverified.length > 0;
  }

  async #apply(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void> {
    await this.#parts.apply(block, verdict.status === "valid" ? await this.#judgeMerge(block, verdict) : verdict);
  }

  /**
   * sync/optimistic.md, "How to optimistically import blocks": when the first payload of a chain is found valid, it has to go on
   * from a terminal block.
   */
  async #judgeMerge(block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<PayloadVerdict> {
    const { forkChoice, blocks, engine } = this.#parts;
    let first: ForkChoiceBlock | undefined;
    for (const ancestor of forkChoice.ancestors(block.root)) {
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
    const message = `The first payload of the chain goes on from ${terminalHash}, which does not end proof of work.`;
    return { status: "invalid", latestValidHash: ZERO_HASH_HEX, message };
  }

  /** Null when there is no answer, or none that matters any more. */
  async #ask<T>({ slot, root }: AskedBlock, request: () => Promise<T>): Promise<T | null> {
    if (this.#isClosed) return null;
    try {
      // Raced with one promise for all requests, something of each would stay until the node is closed.
      const answer = await new Promise<T | null>((resolve, reject) => {
        this.#giveUp = () => resolve(null);
        request().then(resolve, reject);
      });
      this.#isUnanswered = false;
      return answer;
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      const level = this.#isUnanswered ? "debug" : "warn";
      this.#parts.logger[level]("The execution engine was not told of a block", { slot, root, error });
      this.#isUnanswered = true;
      return null;
    }
  }
}
