import type { MethodDefinition } from "../../api/definition.ts";
import type { TransformMetadata } from "./responses/rpc-result.ts";
import { methodNamed, standardPath } from "./standard-operations.ts";

/** The standard operation that serves a method. */
export interface OperationMapping {
  readonly operation: string;
  /** Additional query parameters. */
  readonly query?: Readonly<Record<string, string>>;
  /** Set if the method has different metadata. */
  readonly transform?: TransformMetadata;
  /** Set if a block that was broadcast but not imported is reported as rejected. */
  readonly requiresImport?: true;
}

const nothing: TransformMetadata = () => ({});

/**
 * Methods that REST has only as POST, and first versions that other clients have dropped or do not support for current
 * forks.
 */
const MAPPINGS: Readonly<Record<string, OperationMapping>> = {
  get_v1_validator_duties_attester: { operation: "post_v1_validator_duties_attester" },
  get_v1_beacon_pool_attestations: { operation: "get_v2_beacon_pool_attestations", transform: nothing },
  get_v1_beacon_pool_attester_slashings: { operation: "get_v2_beacon_pool_attester_slashings", transform: nothing },
  get_v1_beacon_blocks_blockId_attestations: {
    operation: "get_v2_beacon_blocks_blockId_attestations",
    transform: ({ version: _ofSecondVersion, ...meta }) => meta,
  },
  post_v1_beacon_blocks: { operation: "post_v2_beacon_blocks" },
  post_v1_validator_block: { operation: "post_v2_beacon_blocks", requiresImport: true },
  post_v1_beacon_pool_attestations: { operation: "post_v2_beacon_pool_attestations" },
  post_v1_beacon_pool_attester_slashings: { operation: "post_v2_beacon_pool_attester_slashings" },
  post_v1_validator_aggregate_and_proofs: { operation: "post_v2_validator_aggregate_and_proofs" },
  get_v1_validator_block: {
    operation: "get_v3_validator_blocks_slot",
    // The method never returns a blinded block.
    query: { builder_boost_factor: "0" },
    transform: ({ version, execution_payload_value: value }) => ({ version, block_value: value }),
  },
};

/** Returns undefined if no standard operation serves the method. */
export function mappingOf(method: MethodDefinition): OperationMapping | undefined {
  const name = method.sameAs ?? method.name;
  return MAPPINGS[name] ?? (standardPath(methodNamed(name)) ? { operation: name } : undefined);
}
