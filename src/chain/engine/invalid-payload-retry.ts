import type { RootHex } from "@lodestar/types";
import { type ExecutionEngine, isReachable, type PayloadVerdict } from "../../execution/engine.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { requestPayloadVerdict } from "../import/verify-payload.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { AskEngine } from "./payload-backfill.ts";

interface InvalidPayloadRetryParts {
  forkChoice: ForkChoice;
  blocks: BlockStore;
  payloads: PayloadStore;
  engine: ExecutionEngine;
  ask: AskEngine;
  /** Checks that the chain of valid payloads up to the block starts at a valid terminal PoW block. */
  checkMerge(block: ForkChoiceBlock): Promise<PayloadVerdict>;
  /** Reinstates a rejected block that turned out to be valid. */
  reinstate(block: ForkChoiceBlock): Promise<void>;
}

/**
 * Retries imported blocks that the execution engine rejected. The engine may have been wrong, and peers do not resend
 * known blocks. Reinstates only blocks that the engine now finds valid.
 */
export class InvalidPayloadRetry {
  readonly #parts: InvalidPayloadRetryParts;

  constructor(parts: InvalidPayloadRetryParts) {
    this.#parts = parts;
  }

  /** True if a block is due for a retry. */
  get isDue(): boolean {
    return this.#parts.forkChoice.invalidBranchRoots().some((block) => this.#isDue(block));
  }

  async run(): Promise<void> {
    const { forkChoice, engine } = this.#parts;
    if (!isReachable(engine.state)) return;
    for (const first of forkChoice.invalidBranchRoots()) {
      if (!this.#isDue(first)) continue;
      for (const tip of await this.#validTips(first)) await this.#reinstate(tip, first);
    }
  }

  #isDue({ root }: ForkChoiceBlock): boolean {
    const { forkChoice } = this.#parts;
    return forkChoice.retryBackoff.isDue(root, forkChoice.currentSlot);
  }

  /**
   * Returns the newest block of each branch on which all payloads are now valid. Parents are sent first, because the
   * engine needs a parent before its child.
   */
  async #validTips(first: ForkChoiceBlock): Promise<ForkChoiceBlock[]> {
    const { forkChoice } = this.#parts;
    const tips = new Map<RootHex, ForkChoiceBlock>();
    const valid = new Set<RootHex>();
    for (const block of forkChoice.all()) {
      const { root } = block;
      const parent = this.#payloadParentOf(block);
      if (root !== first.root && (parent === undefined || !valid.has(parent) || !this.#isDue(block))) continue;
      if (!(await this.#isValidNow(block))) continue;
      valid.add(root);
      if (parent !== undefined) tips.delete(parent);
      tips.set(root, block);
    }
    return [...tips.values()];
  }

  /** Returns the root of the block with the payload that the block's own payload is built on. */
  #payloadParentOf({ root, parentRoot, bid }: ForkChoiceBlock): RootHex | undefined {
    return bid ? this.#parts.forkChoice.payloadBlock({ root, payloadStatus: "empty" })?.root : parentRoot;
  }

  async #isValidNow(block: ForkChoiceBlock): Promise<boolean> {
    const { forkChoice, blocks, payloads, engine, ask } = this.#parts;
    const signed = await blocks.signedByRoot(block.root);
    const newPayload = signed && (await payloads.payloadOf(signed, block.root));
    const verdict = newPayload && (await ask(block, () => requestPayloadVerdict(newPayload, engine)));
    if (verdict?.status === "invalid") forkChoice.retryBackoff.schedule(block.root, forkChoice.currentSlot);
    return verdict?.status === "valid";
  }

  async #reinstate(tip: ForkChoiceBlock, first: ForkChoiceBlock): Promise<void> {
    const { forkChoice, checkMerge, reinstate } = this.#parts;
    const { status } = await checkMerge(tip);
    if (status === "valid") await reinstate(tip);
    else if (status === "invalid") forkChoice.retryBackoff.schedule(first.root, forkChoice.currentSlot);
  }
}
