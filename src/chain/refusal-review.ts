import type { BeaconConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { type ExecutionEngine, isReachable, type PayloadVerdict } from "../execution/engine.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import type { AskEngine } from "./engine-feeding.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import { askAbout } from "./import/verify-payload.ts";

interface RefusalReviewParts {
  config: BeaconConfig;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  engine: ExecutionEngine;
  ask: AskEngine;
  /** Whether a chain of valid payloads up to that block began at a block that ended proof of work. */
  judgeMerge(block: ForkChoiceBlock): Promise<PayloadVerdict>;
  /** Follows a block that was refused, and is found valid now. */
  takeBack(block: ForkChoiceBlock): Promise<void>;
}

/**
 * Asks the execution engine again about blocks that were followed until it refused them. It may have been wrong, and nobody else
 * would: they are known to the chain, so that nobody brings them again. Only what it finds valid is followed again.
 */
export class RefusalReview {
  readonly #parts: RefusalReviewParts;

  constructor(parts: RefusalReviewParts) {
    this.#parts = parts;
  }

  /** Whether there is a block to be asked about. */
  get isDue(): boolean {
    return this.#parts.forkChoice.refusedBlocks().some((block) => this.#isDue(block));
  }

  async run(): Promise<void> {
    const { forkChoice, engine } = this.#parts;
    if (!isReachable(engine.state)) return;
    for (const first of forkChoice.refusedBlocks()) {
      if (!this.#isDue(first)) continue;
      for (const tip of await this.#validTips(first)) await this.#takeBack(tip, first);
    }
  }

  #isDue({ root }: ForkChoiceBlock): boolean {
    const { forkChoice } = this.#parts;
    return forkChoice.refusals.isOver(root, forkChoice.currentSlot);
  }

  /** The last blocks of the branch up to which the engine finds all valid; an engine cannot tell of a payload before its parent. */
  async #validTips(first: ForkChoiceBlock): Promise<ForkChoiceBlock[]> {
    const { forkChoice } = this.#parts;
    const tips = new Map<RootHex, ForkChoiceBlock>();
    const valid = new Set<RootHex>();
    for (const block of forkChoice.all()) {
      const { root, parentRoot } = block;
      if (root !== first.root && (!valid.has(parentRoot) || !this.#isDue(block))) continue;
      if (!(await this.#isValidNow(block))) continue;
      valid.add(root);
      tips.delete(parentRoot);
      tips.set(root, block);
    }
    return [...tips.values()];
  }

  async #isValidNow(block: ForkChoiceBlock): Promise<boolean> {
    const { config, forkChoice, blocks, engine, ask } = this.#parts;
    const signed = await blocks.signedByRoot(block.root);
    const verdict = signed && (await ask(block, () => askAbout(signed, config, engine)));
    if (verdict?.status === "invalid") forkChoice.refusals.begin(block.root, forkChoice.currentSlot);
    return verdict?.status === "valid";
  }

  async #takeBack(tip: ForkChoiceBlock, first: ForkChoiceBlock): Promise<void> {
    const { forkChoice, judgeMerge, takeBack } = this.#parts;
    const { status } = await judgeMerge(tip);
    if (status === "valid") await takeBack(tip);
    else if (status === "invalid") forkChoice.refusals.begin(first.root, forkChoice.currentSlot);
  }
}
