import type { ForkChoice } from "../fork-choice.ts";
import type { ForkChoiceBlock } from "../types.ts";
import { adversarialWeight, type ConfirmationContext, excessOf } from "./adversarial-weight.ts";
import { type BalanceSource, toGwei } from "./balance-source.ts";
import { estimateCommitteeWeight } from "./committee-weight.ts";

/** Tells which blocks win LMD-GHOST from now on, weighed by the balances of a checkpoint. */
export class LmdSafety {
  readonly #forkChoice: ForkChoice;
  readonly #context: ConfirmationContext;
  readonly #source: BalanceSource;
  readonly #scores: Float64Array;

  constructor(forkChoice: ForkChoice, context: ConfirmationContext, source: BalanceSource) {
    this.#forkChoice = forkChoice;
    this.#context = context;
    this.#source = source;
    this.#scores = forkChoice.support.attestationScores(source.balances);
  }

  /** is_one_confirmed. Returns false for blocks that are not fully verified. */
  isOneConfirmed(block: ForkChoiceBlock): boolean {
    const parent = this.#forkChoice.get(block.parentRoot);
    if (parent === undefined || !this.#forkChoice.isVerifiedBlock(block.root)) return false;
    const support = this.#scores[this.#forkChoice.indexOf(block.root)]!;
    return toGwei(support) > this.#safetyThreshold(block, parent);
  }

  /** compute_safety_threshold */
  #safetyThreshold(block: ForkChoiceBlock, parent: ForkChoiceBlock): bigint {
    const { config, slotsPerEpoch, currentSlot } = this.#context;
    const total = toGwei(this.#source.totalActive);
    const proposerScore = ((total / BigInt(slotsPerEpoch)) * BigInt(config.PROPOSER_SCORE_BOOST)) / 100n;
    const range = { start: parent.slot + 1, end: currentSlot - 1 };
    const maximumSupport = estimateCommitteeWeight(total, range, slotsPerEpoch);
    const ceiling = maximumSupport + proposerScore + 2n * this.#adversarialWeight(block, parent);
    return excessOf(ceiling, this.#emptySlotSupportDiscount(block, parent)) / 2n;
  }

  /** get_adversarial_weight */
  #adversarialWeight({ slot }: ForkChoiceBlock, parent: ForkChoiceBlock): bigint {
    const { slotsPerEpoch, currentSlot } = this.#context;
    const epochStart = slot - (slot % slotsPerEpoch);
    const start = parent.slot < epochStart ? epochStart : slot;
    return adversarialWeight(this.#context, this.#source, { start, end: currentSlot - 1 });
  }

  /** compute_empty_slot_support_discount: votes of the committees of empty slots for the parent. */
  #emptySlotSupportDiscount({ slot }: ForkChoiceBlock, parent: ForkChoiceBlock): bigint {
    if (parent.slot + 1 === slot) return 0n;
    const range = { start: parent.slot + 1, end: slot - 1 };
    let support = 0;
    for (const validator of this.#context.members.votersFor(this.#forkChoice.indexOf(parent.root), range)) {
      support += this.#source.balances[validator] ?? 0;
    }
    return excessOf(toGwei(support), adversarialWeight(this.#context, this.#source, range));
  }
}
