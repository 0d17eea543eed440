import type { ForkChoice } from "../fork-choice.ts";
import { votingSource } from "../tree/viability.ts";
import { type ForkChoiceBlock, sameCheckpoint } from "../types.ts";
import type { ConfirmationConfig, ConfirmationContext } from "./adversarial-weight.ts";
import type { BalanceSource } from "./balance-source.ts";
import { CommitteeMembers, type SlotCommittees } from "./committee-members.ts";
import type { ConfirmationVariables } from "./confirmation-variables.ts";
import { FfgSupport } from "./ffg-support.ts";
import { LmdSafety } from "./lmd-safety.ts";

/** What the rule reads from states, only if it needs it. */
export interface ConfirmationSources {
  /** get_previous_balance_source, read only in the first slot of an epoch. */
  previous(): BalanceSource;
  /** get_current_balance_source */
  current(): BalanceSource;
  /** Balances of get_pulled_up_head_state. */
  pulledUpHead(): BalanceSource;
  committeesAt: SlotCommittees;
}

/** One run of the fast confirmation rule, in whose course fork choice does not change. */
export class ConfirmationRun {
  readonly #forkChoice: ForkChoice;
  readonly #variables: ConfirmationVariables;
  readonly #sources: ConfirmationSources;
  readonly #context: ConfirmationContext;
  readonly #ffg: FfgSupport;
  readonly #head: ForkChoiceBlock;
  readonly #currentEpoch: number;
  readonly #isEpochStart: boolean;
  #lmd: LmdSafety | undefined;

  constructor(
    forkChoice: ForkChoice,
    variables: ConfirmationVariables,
    sources: ConfirmationSources,
    { config, slotsPerEpoch }: { config: ConfirmationConfig; slotsPerEpoch: number },
  ) {
    const { head, currentSlot, support } = forkChoice;
    this.#forkChoice = forkChoice;
    this.#variables = variables;
    this.#sources = sources;
    const members = new CommitteeMembers(sources.committeesAt, support);
    this.#context = { config, slotsPerEpoch, currentSlot, members };
    this.#ffg = new FfgSupport(forkChoice, this.#context, () => sources.pulledUpHead());
    this.#head = head;
    this.#currentEpoch = this.#epochOf(currentSlot);
    this.#isEpochStart = currentSlot % slotsPerEpoch === 0;
  }

  /** get_latest_confirmed */
  latestConfirmed(): ForkChoiceBlock {
    const forkChoice = this.#forkChoice;
    const { currentObservedJustified } = this.#variables;
    // A confirmed block that finality has passed is older than the previous epoch, or not canonical.
    const previous = forkChoice.get(this.#variables.confirmedRoot);
    let confirmed = previous !== undefined && this.#remainsConfirmed(previous) ? previous : forkChoice.finalizedBlock;
    const observed = forkChoice.get(currentObservedJustified.root);
    const restarts =
      this.#isEpochStart &&
      observed !== undefined &&
      this.#epochOf(observed.slot) + 1 === this.#currentEpoch &&
      sameCheckpoint(currentObservedJustified, this.#head.unrealizedJustified) &&
      confirmed.slot < observed.slot;
    if (restarts) confirmed = observed;
    return this.#epochOf(confirmed.slot) + 1 >= this.#currentEpoch ? this.#latestDescendant(confirmed) : confirmed;
  }

  #remainsConfirmed(confirmed: ForkChoiceBlock): boolean {
    if (this.#epochOf(confirmed.slot) + 1 < this.#currentEpoch) return false;
    if (!this.#forkChoice.isDescendant(confirmed.root, this.#head.root)) return false;
    return !this.#isEpochStart || this.#isConfirmedChainSafe(confirmed);
  }

  /** is_confirmed_chain_safe */
  #isConfirmedChainSafe(confirmed: ForkChoiceBlock): boolean {
    const forkChoice = this.#forkChoice;
    const { epoch, root } = this.#variables.currentObservedJustified;
    if (forkChoice.ancestorAtSlot(confirmed.root, this.#startOf(epoch)) !== root) return false;
    let startExclusive = forkChoice.get(root);
    if (epoch + 1 < this.#currentEpoch) {
      const ancestorRoot = forkChoice.ancestorAtSlot(confirmed.root, this.#startOf(this.#currentEpoch - 1));
      const ancestor = ancestorRoot === undefined ? undefined : forkChoice.get(ancestorRoot);
      const isOfPreviousEpoch = ancestor !== undefined && this.#epochOf(ancestor.slot) + 1 === this.#currentEpoch;
      startExclusive = isOfPreviousEpoch ? forkChoice.get(ancestor.parentRoot) : ancestor;
    }
    if (startExclusive === undefined) return false;
    const chain = this.#chainBetween(startExclusive, confirmed);
    if (chain.length === 0) return true;
    const lmd = new LmdSafety(forkChoice, this.#context, this.#sources.previous());
    return chain.every((block) => lmd.isOneConfirmed(block));
  }

  /** find_latest_confirmed_descendant */
  #latestDescendant(latestConfirmed: ForkChoiceBlock): ForkChoiceBlock {
    const confirmed = this.#mayAdvanceInPreviousEpoch(latestConfirmed)
      ? this.#advanceInPreviousEpoch(latestConfirmed)
      : latestConfirmed;
    if (!this.#isEpochStart && this.#head.unrealizedJustified.epoch + 1 < this.#currentEpoch) return confirmed;
    const tentative = this.#advance(confirmed);
    const isOfCurrentEpoch = this.#epochOf(tentative.slot) === this.#currentEpoch;
    const staysViable = () =>
      this.#votingSourceEpoch(tentative) + 2 >= this.#currentEpoch &&
      (this.#isEpochStart || this.#ffg.willJustifyNoConflicting());
    return isOfCurrentEpoch || staysViable() ? tentative : confirmed;
  }

  #mayAdvanceInPreviousEpoch(confirmed: ForkChoiceBlock): boolean {
    const { previousSlotHead } = this.#variables;
    if (this.#epochOf(confirmed.slot) + 1 !== this.#currentEpoch) return false;
    if (this.#votingSourceEpoch(previousSlotHead) + 2 < this.#currentEpoch) return false;
    if (this.#isEpochStart) return true;
    const isJustified = ({ unrealizedJustified }: ForkChoiceBlock) =>
      unrealizedJustified.epoch + 1 >= this.#currentEpoch;
    return (isJustified(previousSlotHead) || isJustified(this.#head)) && this.#ffg.willJustifyNoConflicting();
  }

  #advanceInPreviousEpoch(from: ForkChoiceBlock): ForkChoiceBlock {
    let confirmed = from;
    for (const block of this.#chainBetween(from, this.#head)) {
      if (this.#epochOf(block.slot) === this.#currentEpoch) break;
      if (!this.#forkChoice.isDescendant(block.root, this.#variables.previousSlotHead.root)) break;
      if (!this.#currentLmd.isOneConfirmed(block)) break;
      confirmed = block;
    }
    return confirmed;
  }

  #advance(from: ForkChoiceBlock): ForkChoiceBlock {
    let tentative = from;
    for (const block of this.#chainBetween(from, this.#head)) {
      const entersEpoch = this.#epochOf(block.slot) > this.#epochOf(tentative.slot);
      if (entersEpoch && !this.#ffg.willJustifyTarget()) break;
      if (!this.#currentLmd.isOneConfirmed(block)) break;
      tentative = block;
    }
    return tentative;
  }

  /** Counts votes only if a block has to be checked. */
  get #currentLmd(): LmdSafety {
    this.#lmd ??= new LmdSafety(this.#forkChoice, this.#context, this.#sources.current());
    return this.#lmd;
  }

  /** get_ancestor_roots: the blocks after `start` up to `end`, oldest first; none if `start` is not an ancestor. */
  #chainBetween(start: ForkChoiceBlock, end: ForkChoiceBlock): ForkChoiceBlock[] {
    const chain: ForkChoiceBlock[] = [];
    for (const block of this.#forkChoice.ancestors(end.root)) {
      if (block.root === start.root) return chain.reverse();
      if (block.slot <= start.slot) break;
      chain.push(block);
    }
    return [];
  }

  /** Epoch of get_voting_source. */
  #votingSourceEpoch(block: ForkChoiceBlock): number {
    return votingSource(block, this.#currentEpoch, this.#context.slotsPerEpoch).epoch;
  }

  #epochOf(slot: number): number {
    return Math.floor(slot / this.#context.slotsPerEpoch);
  }

  #startOf(epoch: number): number {
    return epoch * this.#context.slotsPerEpoch;
  }
}
