import type { BeaconConfig } from "@lodestar/config";
import type { Timers } from "../../async/timers.ts";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Builder } from "../../execution/builder/builder.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { SyncStatus } from "../head/sync-status.ts";
import { BuilderBids } from "./builder-bids.ts";
import { BuilderRegistrations } from "./builder-registrations.ts";
import { CircuitBreaker, type MissedSlotLimits } from "./circuit-breaker.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** A builder and its settings. */
export interface BuilderSettings {
  builder: Builder;
  /** Default `builder_boost_factor` in percent. */
  boostFactor: bigint;
  missedSlots: MissedSlotLimits;
  timers?: Pick<Timers, "sleep">;
}

interface BuilderComponentsParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  status: SyncStatus;
  bls: BlsVerifier;
  preparations: ProposerPreparations;
  logger: Logger;
}

/** Components of the chain for its builder. */
export interface BuilderComponents {
  bids: BuilderBids;
  /** Components that follow the clock. */
  followers: readonly (CircuitBreaker | BuilderRegistrations)[];
}

export function createBuilderComponents(
  { builder, boostFactor, missedSlots: limits, timers }: BuilderSettings,
  { config, clock, forkChoice, status, bls, preparations, logger }: BuilderComponentsParts,
): BuilderComponents {
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
