import { createHash } from "node:crypto";
import type { ChainConfig } from "@lodestar/config";
import { NUMBER_OF_COLUMNS } from "@lodestar/params";

const NODE_ID_VALUES = 1n << 256n;

/** fulu/das-core.md, get_custody_groups. Takes a 32-byte node ID; returns groups in ascending order. */
export function custodyGroupsOf(
  { NUMBER_OF_CUSTODY_GROUPS }: Pick<ChainConfig, "NUMBER_OF_CUSTODY_GROUPS">,
  nodeId: Uint8Array,
  count: number,
): number[] {
  const groupCount = Math.min(count, NUMBER_OF_CUSTODY_GROUPS);
  if (groupCount === NUMBER_OF_CUSTODY_GROUPS) return Array.from({ length: groupCount }, (_, group) => group);
  const groups = new Set<number>();
  let id = BigInt(`0x${Buffer.from(nodeId).toString("hex")}`);
  while (groups.size < groupCount) {
    const hash = createHash("sha256").update(littleEndian(id)).digest();
    groups.add(Number(hash.readBigUInt64LE(0) % BigInt(NUMBER_OF_CUSTODY_GROUPS)));
    id = (id + 1n) % NODE_ID_VALUES;
  }
  return [...groups].sort((a, b) => a - b);
}

/** fulu/das-core.md, compute_columns_for_custody_group for several groups. Returns columns in ascending order. */
export function columnsOfGroups(
  { NUMBER_OF_CUSTODY_GROUPS }: Pick<ChainConfig, "NUMBER_OF_CUSTODY_GROUPS">,
  groups: readonly number[],
): number[] {
  const columns: number[] = [];
  for (let first = 0; first < NUMBER_OF_COLUMNS; first += NUMBER_OF_CUSTODY_GROUPS) {
    for (const group of groups) columns.push(first + group);
  }
  return columns;
}

/** fulu/p2p-interface.md, compute_subnet_for_data_column_sidecar. */
export function subnetOfColumn(
  { DATA_COLUMN_SIDECAR_SUBNET_COUNT }: Pick<ChainConfig, "DATA_COLUMN_SIDECAR_SUBNET_COUNT">,
  column: number,
): number {
  return column % DATA_COLUMN_SIDECAR_SUBNET_COUNT;
}

/** fulu/validator.md, get_validators_custody_requirement. Requires at least one validator. */
export function custodyRequirementOf(
  config: Pick<
    ChainConfig,
    "BALANCE_PER_ADDITIONAL_CUSTODY_GROUP" | "VALIDATOR_CUSTODY_REQUIREMENT" | "NUMBER_OF_CUSTODY_GROUPS"
  >,
  effectiveBalanceGwei: number,
): number {
  const count = Math.floor(effectiveBalanceGwei / config.BALANCE_PER_ADDITIONAL_CUSTODY_GROUP);
  return Math.min(Math.max(count, config.VALIDATOR_CUSTODY_REQUIREMENT), config.NUMBER_OF_CUSTODY_GROUPS);
}

function littleEndian(id: bigint): Uint8Array {
  return Buffer.from(id.toString(16).padStart(64, "0"), "hex").reverse();
}
