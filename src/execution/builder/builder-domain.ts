import type { ChainForkConfig } from "@lodestar/config";
import { DOMAIN_APPLICATION_BUILDER } from "@lodestar/params";
import { computeDomain, ZERO_HASH } from "@lodestar/state-transition";

/** What bids and registrations are signed for: builders know one domain for each network, whatever its fork. */
export function builderDomain({ GENESIS_FORK_VERSION }: Pick<ChainForkConfig, "GENESIS_FORK_VERSION">): Uint8Array {
  return computeDomain(DOMAIN_APPLICATION_BUILDER, GENESIS_FORK_VERSION, ZERO_HASH);
}
