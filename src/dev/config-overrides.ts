import { type BlobScheduleEntry, type ChainConfig, chainConfigTypes, type SpecValue } from "@lodestar/config";
import { activePreset, EFFECTIVE_BALANCE_INCREMENT, MAX_BLOB_COMMITMENTS_PER_BLOCK } from "@lodestar/params";
import { fromHex, toHex } from "@lodestar/utils";
import { nearestName } from "../errors/nearest-name.ts";
import type { ConfigOverrides } from "./genesis-parameters.ts";
import { ImpossibleChainError } from "./impossible-chain.ts";

/** What is set in another way, and by what. */
const SET_ELSEWHERE: Readonly<Record<string, string>> = {
  PRESET_BASE: "--preset sets it",
  CONFIG_NAME: "every dev chain has the same, by which it is known",
  MIN_GENESIS_TIME: "--genesis-time sets it",
  GENESIS_DELAY: "a dev chain begins at its genesis time",
  MIN_GENESIS_ACTIVE_VALIDATOR_COUNT: "--validators sets how many there are",
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

/** Where 0 makes sense; elsewhere something would be divided by it, or nothing could be asked for any more. */
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

/** Epochs, Gwei and the like can be added to such numbers, and the sums are still exact. */
const LARGEST = 1e15;
/** A validator of 32 ETH must not be ejected at once. */
const LARGEST_EJECTION_BALANCE = 31e9;
const BASIS_POINTS = 10_000;

/** A configuration with other values of some of its constants, each checked by its type and by whether a chain can live with it. */
export function applyOverrides(config: ChainConfig, overrides: ConfigOverrides): ChainConfig {
  const values: Record<string, SpecValue> = {};
  for (const [name, text] of Object.entries(overrides)) values[name] = overridden(name, text, config);
  const changed: ChainConfig = { ...config, ...values };
  requireOwnVersions(changed);
  return changed;
}

function overridden(name: string, text: string, config: ChainConfig): SpecValue {
  requireConfigurable(name);
  if (name === "BLOB_SCHEDULE") return blobSchedule(text, config);
  const current = config[name];
  if (current instanceof Uint8Array) return bytes(name, text, current.length);
  const { least, most } = limitsOf(name);
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw refused(name, text, `it must be a whole number from ${least} to ${most}`);
}

function requireConfigurable(name: string): asserts name is keyof ChainConfig {
  const elsewhere = /_FORK_EPOCH$/.test(name) ? "--fork and --fork-at set it" : SET_ELSEWHERE[name];
  if (Object.hasOwn(chainConfigTypes, name)) {
    if (elsewhere === undefined) return;
    throw new ImpossibleChainError(`${name} cannot be set by --config: ${elsewhere}.`);
  }
  if (Object.hasOwn(activePreset, name)) {
    throw new ImpossibleChainError(
      `${name} cannot be set by --config: it belongs to the preset, which --preset chooses as a whole.`,
    );
  }
  const nearest = nearestName(name, Object.keys(chainConfigTypes));
  const hint =
    nearest === undefined
      ? " The file network/config.yaml of a dev chain has all that there are."
      : ` Did you mean ${nearest}?`;
  throw new ImpossibleChainError(`${name} is not a constant of the chain configuration.${hint}`);
}

function limitsOf(name: string): { least: number; most: number } {
  if (/_BPS(?:_GLOAS)?$/.test(name)) return { least: 0, most: BASIS_POINTS };
  if (name === "EJECTION_BALANCE") return { least: 0, most: LARGEST_EJECTION_BALANCE };
  if (/^MAX_BLOBS_PER_BLOCK/.test(name)) return { least: 1, most: MAX_BLOB_COMMITMENTS_PER_BLOCK };
  // The churn of an epoch is rounded down to whole increments, and exits wait by how often it has to be spent.
  if (name === "MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA" || name === "MAX_PER_EPOCH_ACTIVATION_EXIT_CHURN_LIMIT") {
    return { least: EFFECTIVE_BALANCE_INCREMENT, most: LARGEST };
  }
  return { least: MAY_BE_ZERO.has(name) ? 0 : 1, most: LARGEST };
}

function bytes(name: string, text: string, length: number): Uint8Array {
  if (new RegExp(`^0x[0-9a-f]{${2 * length}}$`, "i").test(text)) return fromHex(text);
  throw refused(name, text, `it must be 0x and ${2 * length} hex digits`);
}

/** `EPOCH:BLOBS` for each change of the limit, separated by semicolons. */
function blobSchedule(text: string, { FULU_FORK_EPOCH }: ChainConfig): BlobScheduleEntry[] {
  const entries = text.split(";").map((part): BlobScheduleEntry => {
    const [, epoch, blobs] = /^(\d{1,15}):(\d{1,9})$/.exec(part.trim()) ?? [];
    return { EPOCH: Number(epoch), MAX_BLOBS_PER_BLOCK: Number(blobs) };
  });
  for (const [position, { EPOCH, MAX_BLOBS_PER_BLOCK }] of entries.entries()) {
    const earliest = position === 0 ? FULU_FORK_EPOCH : entries[position - 1]!.EPOCH + 1;
    if (EPOCH >= earliest && MAX_BLOBS_PER_BLOCK >= 1 && MAX_BLOBS_PER_BLOCK <= MAX_BLOB_COMMITMENTS_PER_BLOCK)
      continue;
    throw refused(
      "BLOB_SCHEDULE",
      text,
      `it must be epochs from fulu on, in ascending order, each with its most blobs of 1 to ${MAX_BLOB_COMMITMENTS_PER_BLOCK}, such as 2:9;4:12`,
    );
  }
  return entries;
}

/** By its version it is known to which fork a signature belongs. */
function requireOwnVersions(config: ChainConfig): void {
  const owners = new Map<string, string>();
  for (const [name, value] of Object.entries(config)) {
    if (!name.endsWith("_FORK_VERSION") || !(value instanceof Uint8Array)) continue;
    const version = toHex(value);
    const owner = owners.get(version);
    if (owner !== undefined) {
      throw new ImpossibleChainError(`${owner} and ${name} are both ${version}: each fork needs a version of its own.`);
    }
    owners.set(version, name);
  }
}

const refused = (name: string, text: string, expected: string) =>
  new ImpossibleChainError(`The value "${text}" of ${name} is not accepted: ${expected}.`);
