import type { ForkChoice } from "../fork-choice.ts";
import { sameCheckpoint } from "../types.ts";
import { adversarialWeight, type ConfirmationContext, excessOf } from "./adversarial-weight.ts";
import { type BalanceSource, toGwei } from "./balance-source.ts";
import { estimateCommitteeWeight } from "./committee-weight.ts";

/** Predicts justification in the current epoch. Counts votes only if asked. */
export class FfgSupport {
  readonly #forkChoice: ForkChoice;
  readonly #context: ConfirmationContext;
  readonly #sourceOf: () => BalanceSource;
  #computed: { honestSupport: bigint; total: bigint } | undefined;

  /** `sourceOf` returns the balances of get_pulled_up_head_state. */
  constructor(forkChoice: ForkChoice, context: ConfirmationContext, sourceOf: () => BalanceSource) {
    this.#forkChoice = forkChoice;
    this.#context = context;
    this.#sourceOf = sourceOf;
  }

  /** will_no_conflicting_checkpoint_be_justified */
  willJustifyNoConflicting(): boolean {
    const { unrealizedJustified } = this.#forkChoice;
    const target = { epoch: this.#currentEpoch, root: this.#targetRoot() };
    if (sameCheckpoint(target, unrealizedJustified)) return true;
    const { honestSupport, total } = this.#compute();
    return 3n * honestSupport > total;
  }

  /** will_current_target_be_justified */
  willJustifyTarget(): boolean {
    const { honestSupport, total } = this.#compute();
    return 3n * honestSupport >= 2n * total;
  }

  /** compute_honest_ffg_support_for_current_target, with the total active balance, in Gwei. */
  #compute(): { honestSupport: bigint; total: bigint } {
    this.#computed ??= this.#count();
    return this.#computed;
  }

  #count(): { honestSupport: bigint; total: bigint } {
    const { config, slotsPerEpoch, currentSlot } = this.#context;
    const source = this.#sourceOf();
    const total = toGwei(source.totalActive);
    const target = this.#forkChoice.indexOf(this.#targetRoot());
    const score = toGwei(this.#forkChoice.support.targetScore(target, this.#currentEpoch, source.balances));
    const past = { start: this.#currentEpoch * slotsPerEpoch, end: currentSlot - 1 };
    const remaining = total - estimateCommitteeWeight(total, past, slotsPerEpoch);
    const remainingHonest = (remaining / 100n) * BigInt(100 - config.CONFIRMATION_BYZANTINE_THRESHOLD);
    const adversarial = adversarialWeight(this.#context, source, past);
    return { honestSupport: excessOf(score, adversarial) + remainingHonest, total };
  }

  get #currentEpoch(): number {
    return Math.floor(this.#context.currentSlot / this.#context.slotsPerEpoch);
  }

  /** Root of get_current_target. If the tree does not reach back to the epoch, it is the oldest block's parent. */
  #targetRoot(): string {
    const { head } = this.#forkChoice;
    const firstSlot = this.#currentEpoch * this.#context.slotsPerEpoch;
    return this.#forkChoice.ancestorAtSlot(head.root, firstSlot) ?? head.targetRoot;
  }
}
