import type { BeaconConfig } from "@lodestar/config";
import { EFFECTIVE_BALANCE_INCREMENT } from "@lodestar/params";
import { yieldToEventLoop } from "../../async/time-slice.ts";
import { custodyRequirementOf } from "../../data/custody.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import type { AttachedValidators } from "../subscriptions/attached-validators.ts";
import type { Custody } from "./custody.ts";

interface ValidatorCustodyParts {
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  attached: AttachedValidators;
  custody: Custody;
  states: Pick<StateStore, "atCheckpoint">;
  forkChoice: Pick<ForkChoice, "finalized">;
  events: Pick<ChainEvents, "on">;
  logger: Logger;
}

/**
 * Raises the custody group count to what the balances of attached validators require (fulu/validator.md, Validator
 * custody).
 */
export class ValidatorCustody {
  readonly #parts: ValidatorCustodyParts;
  #isDue = false;
  #isStopped = false;

  constructor(parts: ValidatorCustodyParts) {
    this.#parts = parts;
  }

  /** Starts following validators and finality. Returns a stop function. */
  start(): () => void {
    const { attached, events } = this.#parts;
    const review = () => void this.#reviewSoon();
    const ends = [attached.onAdded(review), events.on("finalized", review)];
    review();
    return () => {
      this.#isStopped = true;
      for (const end of ends) end();
    };
  }

  /** Debounced, because clients register many validators at once. */
  async #reviewSoon(): Promise<void> {
    if (this.#isDue || !this.#mayRise) return;
    this.#isDue = true;
    await yieldToEventLoop();
    this.#isDue = false;
    try {
      if (!this.#isStopped) await this.#review();
    } catch (error) {
      if (!this.#isStopped) this.#parts.logger.warn("Failed to compute the validator custody requirement", { error });
    }
  }

  get #mayRise(): boolean {
    const { config, custody } = this.#parts;
    return Number.isFinite(config.FULU_FORK_EPOCH) && custody.groupCount < config.NUMBER_OF_CUSTODY_GROUPS;
  }

  async #review(): Promise<void> {
    const { config, clock, attached, custody, states, forkChoice, logger } = this.#parts;
    const validators = attached.list(clock.currentEpoch);
    if (validators.size === 0) return;
    const { epochCtx } = await states.atCheckpoint(forkChoice.finalized);
    let increments = 0;
    for (const validator of validators) increments += epochCtx.effectiveBalanceIncrements[validator] ?? 0;
    const groups = custodyRequirementOf(config, increments * EFFECTIVE_BALANCE_INCREMENT);
    if (groups <= custody.groupCount) return;
    custody.raiseTo(groups);
    logger.info("Raised custody group count for attached validators", { validators: validators.size, groups });
  }
}
