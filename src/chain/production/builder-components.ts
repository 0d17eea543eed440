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
import type { BuilderSettings } from "./builder-settings.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

/** A builder's client and settings. */
export interface ConnectedBuilder {
  client: Builder;
  settings: BuilderSettings;
}

interface BuilderComponentsParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  status: SyncStatus;
  bls: BlsVerifier;
  preparations: ProposerPreparations;
  logger: Logger;
  timers?: Pick<Timers, "sleep">;
}

/** Chain components that work with the builder. */
export interface BuilderComponents {
  bids: BuilderBids;
  /** Components that follow the clock. */
  followers: readonly (CircuitBreaker | BuilderRegistrations)[];
}

export function createBuilderComponents(
  { client: builder, settings }: ConnectedBuilder,
  { config, clock, forkChoice, status, bls, preparations, logger, timers }: BuilderComponentsParts,
): BuilderComponents {
  const breaker = new CircuitBreaker({ clock, forkChoice, status, settings, logger });
  return {
    bids: new BuilderBids({
      config,
      clock,
      forkChoice,
      bls,
      builder,
      breaker,
      preparations,
      settings,
      logger,
      timers,
    }),
    followers: [breaker, new BuilderRegistrations({ builder, clock, preparations, logger })],
  };
}
