import type { ForkChoice } from "../fork-choice.ts";
import type { ForkChoiceBlock } from "../types.ts";
import type { ConfirmationConfig } from "./adversarial-weight.ts";
import { ConfirmationRun, type ConfirmationSources } from "./confirmation-run.ts";
import type { ConfirmationVariables } from "./confirmation-variables.ts";

/**
 * Fast confirmation rule (phase0/fast-confirmation.md): finds the newest block that stays canonical under synchrony.
 * Each slot, `startSlot` and then `confirm` are called, after the votes of past slots have been applied.
 */
export class FastConfirmation {
  readonly #forkChoice: ForkChoice;
  readonly #config: ConfirmationConfig;
  readonly #slotsPerEpoch: number;
  #variables: ConfirmationVariables;

  constructor(forkChoice: ForkChoice, config: ConfirmationConfig, slotsPerEpoch: number) {
    this.#forkChoice = forkChoice;
    this.#config = config;
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#variables = this.#initial();
    this.reset();
  }

  get variables(): ConfirmationVariables {
    return this.#variables;
  }

  restore(variables: ConfirmationVariables): void {
    this.#variables = variables;
    this.#forkChoice.setConfirmed(variables.confirmedRoot);
  }

  /** get_fast_confirmation_store: begins again from the finalized checkpoint. */
  reset(): void {
    this.restore(this.#initial());
  }

  /**
   * update_fast_confirmation_variables, at most once per slot. Begins again if the clock was set back, or has skipped a
   * slot at the boundary of an epoch: what other nodes saw justified then is unknown.
   */
  startSlot(): void {
    const { head, currentSlot, unrealizedJustified } = this.#forkChoice;
    const last = this.#variables.slot;
    if (last === currentSlot) return;
    if (last !== null && (currentSlot < last || this.#isBoundaryWithin(last + 1, currentSlot - 1))) this.reset();
    const { currentSlotHead, currentObservedJustified, ...rest } = this.#variables;
    const greatestUnrealized = this.#isEpochStart(currentSlot + 1) ? unrealizedJustified : rest.greatestUnrealized;
    const observed = this.#isEpochStart(currentSlot)
      ? { previousObservedJustified: currentObservedJustified, currentObservedJustified: greatestUnrealized }
      : { previousObservedJustified: rest.previousObservedJustified, currentObservedJustified };
    this.#variables = {
      confirmedRoot: rest.confirmedRoot,
      ...observed,
      greatestUnrealized,
      previousSlotHead: currentSlotHead,
      currentSlotHead: head,
      slot: currentSlot,
    };
  }

  /** get_latest_confirmed. Returns the confirmed block. */
  confirm(sources: ConfirmationSources): ForkChoiceBlock {
    const config = this.#config;
    const run = new ConfirmationRun(this.#forkChoice, this.#variables, sources, {
      config,
      slotsPerEpoch: this.#slotsPerEpoch,
    });
    const confirmed = run.latestConfirmed();
    this.restore({ ...this.#variables, confirmedRoot: confirmed.root });
    return confirmed;
  }

  #initial(): ConfirmationVariables {
    const { finalized } = this.#forkChoice;
    const block = this.#forkChoice.finalizedBlock;
    return {
      confirmedRoot: block.root,
      previousObservedJustified: finalized,
      currentObservedJustified: finalized,
      greatestUnrealized: finalized,
      previousSlotHead: block,
      currentSlotHead: block,
      slot: null,
    };
  }

  /** True if the first or last slot of an epoch is in the range. */
  #isBoundaryWithin(first: number, last: number): boolean {
    for (let slot = first; slot <= last; slot++) {
      if (this.#isEpochStart(slot) || this.#isEpochStart(slot + 1)) return true;
    }
    return false;
  }

  #isEpochStart(slot: number): boolean {
    return slot % this.#slotsPerEpoch === 0;
  }
}
