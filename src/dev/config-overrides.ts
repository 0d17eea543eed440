import { type BlobScheduleEntry, type ChainConfig, chainConfigTypes, type SpecValue } from "@lodestar/config";
import { activePreset, EFFECTIVE_BALANCE_INCREMENT, MAX_BLOB_COMMITMENTS_PER_BLOCK } from "@lodestar/params";
import { fromHex, toHex } from "@lodestar/utils";
import { nearestName } from "../errors/nearest-name.ts";
import type { ConfigOverrides } from "./genesis-parameters.ts";
import { InvalidChainError } from "./invalid-chain-error.ts";

/** Constants that `--config` cannot set, with the reason for each. */
const SET_ELSEWHERE: Readonly<Record<string, string>> = {
  PRESET_BASE: "--preset sets it",
  CONFIG_NAME: "it is the same for every dev chain and identifies one",
  MIN_GENESIS_TIME: "--genesis-time sets it",
  GENESIS_DELAY: "a dev chain starts at its genesis time",
  MIN_GENESIS_ACTIVE_VALIDATOR_COUNT: "--validators sets the number of validators",
  SECONDS_PER_SLOT: "--slot-seconds sets it",
  SLOT_DURATION_MS: "--slot-seconds sets it",
  SECONDS_PER_ETH1_BLOCK: "--slot-seconds sets it",
  TERMINAL_TOTAL_DIFFICULTY: "a dev chain is merged from bellatrix on",
  TERMINAL_BLOCK_HASH: "the execution client of --el sets it",
  TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH: "the execution client of --el sets it",
  DEPOSIT_CHAIN_ID: "--deposit-chain-id sets it",
  DEPOSIT_NETWORK_ID: "--deposit-chain-id sets it",
  DEPOSIT_CONTRACT_ADDRESS: "--deposit-contract sets it",
  ETH1_FOLLOW_DISTANCE: "--eth1-follow-distance sets it",
};

/**
 * Constants that may be 0. A value of 0 for any other constant would cause a division by zero or set a limit that
 * allows nothing.
 */
const MAY_BE_ZERO = new Set([
  "MIN_VALIDATOR_WITHDRAWABILITY_DELAY",
  "MIN_BUILDER_WITHDRAWABILITY_DELAY",
  "SHARD_COMMITTEE_PERIOD",
  "INACTIVITY_SCORE_RECOVERY_RATE",
  "PROPOSER_SCORE_BOOST",
  "REORG_HEAD_WEIGHT_THRESHOLD",
  "REORG_PARENT_WEIGHT_THRESHOLD",
  "REORG_MAX_EPOCHS_SINCE_FINALIZATION",
  "MAXIMUM_GOSSIP_CLOCK_DISPARITY",
  "MIN_EPOCHS_FOR_BLOCK_REQUESTS",
  "MIN_EPOCHS_FOR_BLOB_SIDECARS_REQUESTS",
  "MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS",
  "MIN_SLOTS_FOR_INCLUSION_LISTS_REQUESTS",
  "CONFIRMATION_BYZANTINE_THRESHOLD",
]);

/** Upper bound for numbers. Leaves room below 2^53 to add epochs or Gwei. */
const LARGEST = 1e15;
/** Below 32 ETH, so that a new validator is not ejected immediately. */
const LARGEST_EJECTION_BALANCE = 31e9;
const BASIS_POINTS = 10_000;

/** Returns the configuration with some constants overridden. Throws an `InvalidChainError` for an unusable value. */
export function applyOverrides(config: ChainConfig, overrides: ConfigOverrides): ChainConfig {
  const values: Record<string, SpecValue> = {};
  for (const [name, text] of Object.entries(overrides)) values[name] = parseOverride(name, text, config);
  const changed: ChainConfig = { ...config, ...values };
  requireUniqueVersions(changed);
  return changed;
}

function parseOverride(name: string, text: string, config: ChainConfig): SpecValue {
  requireConfigurable(name);
  if (name === "BLOB_SCHEDULE") return blobSchedule(text, config);
  const current = config[name];
  if (current instanceof Uint8Array) return bytes(name, text, current.length);
  const { min, max } = limitsOf(name);
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidValue(name, text, `it must be a whole number from ${min} to ${max}`);
}

/** Returns the constants that `--config` can set. */
export function configurableNames(): string[] {
  return Object.keys(chainConfigTypes).filter((name) => elsewhereOf(name) === undefined);
}

const elsewhereOf = (name: string): string | undefined =>
  /_FORK_EPOCH$/.test(name) ? "--fork and --fork-at set it" : SET_ELSEWHERE[name];

function requireConfigurable(name: string): asserts name is keyof ChainConfig {
  const elsewhere = elsewhereOf(name);
  if (Object.hasOwn(chainConfigTypes, name)) {
    if (elsewhere === undefined) return;
    throw new InvalidChainError(`${name} cannot be set by --config: ${elsewhere}.`);
  }
  if (Object.hasOwn(activePreset, name)) {
    throw new InvalidChainError(
      `${name} cannot be set by --config: it is a preset constant. --preset selects a whole preset.`,
    );
  }
  const nearest = nearestName(name, Object.keys(chainConfigTypes));
  const hint =
    nearest === undefined
      ? " The file network/config.yaml of a dev chain lists all of them."
      : ` Did you mean ${nearest}?`;
  throw new InvalidChainError(`${name} is not a constant of the chain configuration.${hint}`);
}

function limitsOf(name: string): { min: number; max: number } {
  if (/_BPS(?:_GLOAS)?$/.test(name)) return { min: 0, max: BASIS_POINTS };
  if (name === "EJECTION_BALANCE") return { min: 0, max: LARGEST_EJECTION_BALANCE };
  if (/^MAX_BLOBS_PER_BLOCK/.test(name)) return { min: 1, max: MAX_BLOB_COMMITMENTS_PER_BLOCK };
  // The churn limit is rounded down to whole increments and used as a divisor to compute exit epochs.
  if (name === "MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA" || name === "MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT") {
    return { min: EFFECTIVE_BALANCE_INCREMENT, max: LARGEST };
  }
  return { min: MAY_BE_ZERO.has(name) ? 0 : 1, max: LARGEST };
}

function bytes(name: string, text: string, length: number): Uint8Array {
  if (new RegExp(`^0x[0-9a-f]{${2 * length}}$`, "i").test(text)) return fromHex(text);
  throw invalidValue(name, text, `it must be 0x and ${2 * length} hex digits`);
}

/** Parses `EPOCH:BLOBS` entries separated by semicolons. */
function blobSchedule(text: string, { FULU_FORK_EPOCH }: ChainConfig): BlobScheduleEntry[] {
  const entries = text.split(";").map((part): BlobScheduleEntry => {
    const [, epoch, blobs] = /^(\d{1,15}):(\d{1,9})$/.exec(part.trim()) ?? [];
    return { EPOCH: Number(epoch), MAX_BLOBS_PER_BLOCK: Number(blobs) };
  });
  for (const [position, { EPOCH, MAX_BLOBS_PER_BLOCK }] of entries.entries()) {
    const earliest = position === 0 ? FULU_FORK_EPOCH : entries[position - 1]!.EPOCH + 1;
    if (EPOCH >= earliest && MAX_BLOBS_PER_BLOCK >= 1 && MAX_BLOBS_PER_BLOCK <= MAX_BLOB_COMMITMENTS_PER_BLOCK)
      continue;
    throw invalidValue(
      "BLOB_SCHEDULE",
      text,
      "it must list epochs from fulu on in ascending order, each with a limit of " +
        `1 to ${MAX_BLOB_COMMITMENTS_PER_BLOCK} blobs, such as 2:9;4:12`,
    );
  }
  return entries;
}

/** Requires unique fork versions, since a signature is bound to a fork by the fork's version. */
function requireUniqueVersions(config: ChainConfig): void {
  const owners = new Map<string, string>();
  for (const [name, value] of Object.entries(config)) {
    if (!name.endsWith("_FORK_VERSION") || !(value instanceof Uint8Array)) continue;
    const version = toHex(value);
    const owner = owners.get(version);
    if (owner !== undefined) {
      throw new InvalidChainError(`${owner} and ${name} are both ${version}. Each fork needs a unique version.`);
    }
    owners.set(version, name);
  }
}

const invalidValue = (name: string, text: string, expected: string) =>
  new InvalidChainError(`The value "${text}" of ${name} is not accepted: ${expected}.`);
