import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { toRootHex } from "@lodestar/utils";
import type { PayloadVerdict } from "../execution/engine.ts";
import type { Logger } from "../log/logger.ts";
import type { PayloadVerdicts } from "./engine/payload-verdicts.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { PayloadVerification } from "./fork-choice/payloads/payload-verification.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import type { WiredParts } from "./wiring.ts";

interface HeadSettlerParts
  extends Pick<
    WiredParts,
    "changes" | "tracker" | "archiver" | "lightClient" | "pools" | "importQueue" | "payloadQueue" | "data" | "events"
  > {
  forkChoice: ForkChoice;
  payloads: PayloadVerification;
  logger: Logger;
}

/** Brings head and finality up to date after every change to the chain, and publishes them. */
export class HeadSettler {
  readonly #parts: HeadSettlerParts;

  constructor(parts: HeadSettlerParts) {
    this.#parts = parts;
  }

  /** Must run in the queue of changes. */
  async settle(): Promise<void> {
    const { tracker, archiver, lightClient, pools, importQueue, payloadQueue, data, events, ...parts } = this.#parts;
    await tracker.refresh();
    await lightClient.follow(tracker.head);
    if (!archiver.isBehind) return;
    const { checkpoint, state } = await archiver.archive();
    pools.pruneByFinality(state);
    importQueue.dropUnfit();
    payloadQueue.dropUnfit();
    data.pool.prune(computeStartSlotAtEpoch(checkpoint.epoch) + 1);
    parts.logger.info("Finalized", { epoch: checkpoint.epoch, root: checkpoint.root, head: tracker.head.slot });
    const finalizedBlock = { root: checkpoint.root, slot: state.slot };
    events.publish("finalized", {
      ...checkpoint,
      stateRoot: toRootHex(state.hashTreeRoot()),
      executionOptimistic: parts.payloads.isOptimistic(finalizedBlock, { isFinalized: true }),
    });
  }

  /** Applies a verdict of the execution engine on the payload of a block. */
  async applyVerdict(verdicts: PayloadVerdicts, block: ForkChoiceBlock, verdict: PayloadVerdict): Promise<void> {
    const known = this.#parts.forkChoice.get(block.root)?.execution.status;
    // Most verdicts confirm the known status and do not need the queue.
    if (verdict.status === "optimistic" || verdict.status === known) return;
    await this.#parts.changes.run(async () => {
      if (await verdicts.apply(block, verdict)) await this.settle();
    });
  }

  /** Reinstates a payload that the execution engine rejected once. */
  async reinstate(verdicts: PayloadVerdicts, block: ForkChoiceBlock): Promise<void> {
    await this.#parts.changes.run(async () => {
      if (await verdicts.reinstate(block)) await this.settle();
    });
  }
}
