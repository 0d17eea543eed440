import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Settings that the client needs before it queries the node, and compares with the node's. The preset is compiled into
 * the client, which supports no forks after capella.
 */
const WANTED = [
  "PRESET_BASE",
  "CONFIG_NAME",
  "MIN_GENESIS_ACTIVE_VALIDATOR_COUNT",
  "MIN_GENESIS_TIME",
  "GENESIS_FORK_VERSION",
  "GENESIS_DELAY",
  "ALTAIR_FORK_VERSION",
  "ALTAIR_FORK_EPOCH",
  "BELLATRIX_FORK_VERSION",
  "BELLATRIX_FORK_EPOCH",
  "CAPELLA_FORK_VERSION",
  "CAPELLA_FORK_EPOCH",
  "TERMINAL_TOTAL_DIFFICULTY",
  "TERMINAL_BLOCK_HASH",
  "TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH",
  "SECONDS_PER_SLOT",
  "SECONDS_PER_ETH1_BLOCK",
  "MIN_VALIDATOR_WITHDRAWABILITY_DELAY",
  "SHARD_COMMITTEE_PERIOD",
  "ETH1_FOLLOW_DISTANCE",
  "INACTIVITY_SCORE_BIAS",
  "INACTIVITY_SCORE_RECOVERY_RATE",
  "EJECTION_BALANCE",
  "MIN_PER_EPOCH_CHURN_LIMIT",
  "CHURN_LIMIT_QUOTIENT",
  "PROPOSER_SCORE_BOOST",
  "DEPOSIT_CHAIN_ID",
  "DEPOSIT_NETWORK_ID",
  "DEPOSIT_CONTRACT_ADDRESS",
];

/** Writes the node's chain settings to a file for the client and returns its path. */
export async function writeLodestarConfig(restUrl: string, directory: string): Promise<string> {
  const response = await fetch(`${restUrl}/eth/v1/config/spec`);
  const { data } = (await response.json()) as { data: Record<string, unknown> };
  const lines = WANTED.map((name) => {
    const value = data[name];
    if (typeof value !== "string") throw new Error(`The node's specification has no value for ${name}.`);
    return `${name}: "${value}"\n`;
  });
  const path = join(directory, "config.yaml");
  writeFileSync(path, lines.join(""));
  return path;
}
