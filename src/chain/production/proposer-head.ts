import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { type ForkChoiceBlock, type ForkChoiceNode, sameCheckpoint } from "../fork-choice/types.ts";
import type { HeadTracker } from "../head/head-tracker.ts";
import type { ChainSettings } from "../settings.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

interface ProposerHeadParts {
  config: Pick<BeaconConfig, "REORG_MAX_EPOCHS_SINCE_FINALIZATION" | "getForkName" | "getProposerReorgCutoffMs">;
  clock: Pick<Clock, "currentSlot" | "currentEpoch" | "nowSeconds" | "slotStartSeconds">;
  forkChoice: ForkChoice;
  tracker: Pick<HeadTracker, "head" | "headNode" | "headState">;
  preparations: Pick<ProposerPreparations, "feeRecipient">;
  settings: Pick<ChainSettings, "proposerReorgs">;
}

/**
 * Selects the block that a proposer builds on (phase0, bellatrix and gloas/fork-choice.md). With proposer reorgs enabled, that
 * is the head's parent if the head arrived after the attestation deadline and has few votes.
 */
export class ProposerHead {
  readonly #parts: ProposerHeadParts;

  constructor(parts: ProposerHeadParts) {
    this.#parts = parts;
  }

  /**
   * get_proposer_head and should_build_on_full: returns the block to build on, and whether to build on its payload.
   * Before gloas, the payload is a part of the block.
   */
  parentFor(slot: Slot): ForkChoiceNode {
    const { forkChoice, tracker } = this.#parts;
    const { head, headNode } = tracker;
    const node = this.#parentBlock(slot).root === head.root ? headNode : parentNode(head, forkChoice);
    return { root: node.root, payloadStatus: forkChoice.shouldBuildOnFull(node, slot) ? "full" : "empty" };
  }

  #parentBlock(slot: Slot): ForkChoiceBlock {
    const { clock, forkChoice, tracker, settings } = this.#parts;
    const { head } = tracker;
    const parent = forkChoice.get(head.parentRoot);
    // Votes from the head's slot count only after the next slot has started.
    const isNextSlot = head.slot + 1 === slot && clock.currentSlot === slot;
    if (!settings.proposerReorgs || parent === undefined || !isNextSlot || forkChoice.proposerBoostRoot === head.root)
      return head;
    if (!forkChoice.isHeadWeak(head.root)) return head;
    if (forkChoice.isProposerEquivocation(head)) return parent;
    const isReorgable =
      this.#mayReorg(head, parent) && this.#isProposingOnTime(slot) && forkChoice.isParentStrong(parent.root);
    return isReorgable ? parent : head;
  }

  /**
   * should_override_forkchoice_update: returns the head's parent if a validator of this node is expected to reorg the
   * head in the next slot. In that case, the execution engine's head stays at the parent.
   */
  override(): ForkChoiceNode | undefined {
    const { clock, forkChoice, tracker, preparations, settings } = this.#parts;
    const { head, headState } = tracker;
    const parent = forkChoice.get(head.parentRoot);
    if (!settings.proposerReorgs || parent === undefined || !isChainVerified(tracker.headNode, forkChoice))
      return undefined;
    const proposalSlot = head.slot + 1;
    const { currentSlot } = clock;
    const isInTime =
      currentSlot === head.slot || (currentSlot === proposalSlot && this.#isProposingOnTime(proposalSlot));
    if (!isInTime || !this.#mayReorg(head, parent)) return undefined;
    const proposer = headState.epochCtx.getBeaconProposer(proposalSlot);
    if (!preparations.feeRecipient(proposer, clock.currentEpoch)) return undefined;
    const isCounted = currentSlot > head.slot;
    const isReorgable = !isCounted || (forkChoice.isHeadWeak(head.root) && forkChoice.isParentStrong(parent.root));
    return isReorgable ? parentNode(head, forkChoice) : undefined;
  }

  /** Checks the conditions that cannot change after the head has been imported. */
  #mayReorg(head: ForkChoiceBlock, parent: ForkChoiceBlock): boolean {
    const { config, forkChoice } = this.#parts;
    const slot = head.slot + 1;
    const epochsSinceFinalization = computeEpochAtSlot(slot) - forkChoice.finalized.epoch;
    return (
      forkChoice.isLate(head.root) &&
      slot % SLOTS_PER_EPOCH !== 0 &&
      sameCheckpoint(head.unrealizedJustified, parent.unrealizedJustified) &&
      epochsSinceFinalization <= config.REORG_MAX_EPOCHS_SINCE_FINALIZATION &&
      parent.slot + 1 === head.slot
    );
  }

  /** is_proposing_on_time */
  #isProposingOnTime(slot: Slot): boolean {
    const { config, clock } = this.#parts;
    const cutoffMs = config.getProposerReorgCutoffMs(config.getForkName(slot));
    return (clock.nowSeconds() - clock.slotStartSeconds(slot)) * 1000 <= cutoffMs;
  }
}

const parentNode = ({ root, parentRoot }: ForkChoiceBlock, forkChoice: ForkChoice): ForkChoiceNode => ({
  root: parentRoot,
  payloadStatus: forkChoice.parentPayloadStatus(root),
});

/** True if the newest payload on the node's chain is known to be valid. */
function isChainVerified(node: ForkChoiceNode, forkChoice: ForkChoice): boolean {
  return forkChoice.payloadBlock(node)?.execution.status === "valid";
}
