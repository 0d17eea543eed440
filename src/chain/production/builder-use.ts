import type { BeaconConfig } from "@lodestar/config";
import type { Timers } from "../../async/timers.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Builder } from "../../execution/builder/builder.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { SyncStatus } from "../sync-status.ts";
import { BuilderBids } from "./builder-bids.ts";
import { BuilderRegistrations } from "./builder-registrations.ts";
import { CircuitBreaker, type MissedSlotLimits } from "./circuit-breaker.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** A builder, and how far it is trusted. */
export interface BuilderUse {
  builder: Builder;
  /** In percent, for requests that do not say it. */
  boostFactor: bigint;
  missedSlots: MissedSlotLimits;
  timers?: Pick<Timers, "sleep">;
}

interface BuilderUseParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  status: SyncStatus;
  bls: BlsVerifier;
  preparations: ProposerPreparations;
  logger: Logger;
}

/** What the chain has of its builder. */
export interface BuilderInUse {
  bids: BuilderBids;
  /** What follows the clock on behalf of the builder. */
  followers: readonly (CircuitBreaker | BuilderRegistrations)[];
}

export function useBuilder(
  { builder, boostFactor, missedSlots: limits, timers }: BuilderUse,
  { config, clock, forkChoice, status, bls, preparations, logger }: BuilderUseParts,
): BuilderInUse {
  const breaker = new CircuitBreaker({ clock, forkChoice, status, limits, logger });
  return {
    bids: new BuilderBids({
      config,
      clock,
      forkChoice,
      bls,
      builder,
      breaker,
      preparations,
      boostFactor,
      logger,
      timers,
    }),
    followers: [breaker, new BuilderRegistrations({ builder, clock, preparations, logger })],
  };
}
