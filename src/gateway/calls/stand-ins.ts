import type { Method } from "../../api/definition.ts";
import type { Beside } from "./answers.ts";
import { methodNamed, standardPath } from "./operations.ts";

/** The operation that is asked for in place of a method. */
export interface StandIn {
  readonly asked: string;
  /** What its query has beside the parameters. */
  readonly query?: Readonly<Record<string, string>>;
  /** Where the method has other metadata. */
  readonly beside?: Beside;
  /** Set where a block that was only broadcast counts as refused. */
  readonly mustBeImported?: true;
}

const nothing: Beside = () => ({});

/** What REST has with another verb only, and first versions that other nodes no longer have, or not for the forks of today. */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  get_v1_validator_duties_attester: { asked: "post_v1_validator_duties_attester" },
  get_v1_beacon_pool_attestations: { asked: "get_v2_beacon_pool_attestations", beside: nothing },
  get_v1_beacon_pool_attester_slashings: { asked: "get_v2_beacon_pool_attester_slashings", beside: nothing },
  get_v1_beacon_blocks_blockId_attestations: {
    asked: "get_v2_beacon_blocks_blockId_attestations",
    beside: ({ version: _ofSecondVersion, ...meta }) => meta,
  },
  post_v1_beacon_blocks: { asked: "post_v2_beacon_blocks" },
  post_v1_validator_block: { asked: "post_v2_beacon_blocks", mustBeImported: true },
  post_v1_beacon_pool_attestations: { asked: "post_v2_beacon_pool_attestations" },
  post_v1_beacon_pool_attester_slashings: { asked: "post_v2_beacon_pool_attester_slashings" },
  post_v1_validator_aggregate_and_proofs: { asked: "post_v2_validator_aggregate_and_proofs" },
  get_v1_validator_block: {
    asked: "get_v3_validator_blocks_slot",
    // It never gives a block without its payload.
    query: { builder_boost_factor: "0" },
    beside: ({ version, execution_payload_value: value }) => ({ version, block_value: value }),
  },
};

/** Undefined when neither the method itself nor another is an operation of the standard. */
export function standInOf(method: Method): StandIn | undefined {
  const name = method.sameAs ?? method.name;
  return STAND_INS[name] ?? (standardPath(methodNamed(name)) ? { asked: name } : undefined);
}
