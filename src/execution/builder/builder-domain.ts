import type { ChainForkConfig } from "@lodestar/config";
import { DOMAIN_APPLICATION_BUILDER } from "@lodestar/params";
import { computeDomain, ZERO_HASH } from "@lodestar/state-transition";

/**
 * Returns the signing domain for bids and registrations, which is the same for all forks of a network (builder-specs).
 */
export function builderDomain({ GENESIS_FORK_VERSION }: Pick<ChainForkConfig, "GENESIS_FORK_VERSION">): Uint8Array {
  return computeDomain(DOMAIN_APPLICATION_BUILDER, GENESIS_FORK_VERSION, ZERO_HASH);
}
