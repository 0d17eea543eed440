import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { TIME_OF_DAY } from "../../chain/clock/time-of-day.ts";
import type { RequestedDeposits } from "../../dev/chain-config.ts";
import { DEV_FORKS, type DevFork, forkAtGenesis, type ScheduledFork } from "../../dev/forks.ts";
import type { ConfigOverrides, GenesisParameters, KeySource } from "../../dev/genesis-parameters.ts";
import type { DevIdentity } from "../../dev/identity.ts";
import { StartupError, usageError } from "../exit.ts";
import type { DEV_GENESIS_FLAGS, DEV_PRESETS, KEY_FLAGS } from "./dev-genesis-flags.ts";
import type { FlagValues } from "./flag.ts";
import { forkSchedule } from "./fork-schedule.ts";

type DevPreset = (typeof DEV_PRESETS)[number];

/** What a dev chain is made with. */
export interface DevGenesis extends GenesisParameters {
  preset: DevPreset;
  validators: number;
  /** Every fork the chain will have, in fork order, from phase0; those of epoch 0 are in force at genesis. */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  warmupEpochs: number;
  /** Unix seconds; undefined for a chain whose warm-up history ends now. */
  genesisTime: number | undefined;
  /** Undefined for a chain that takes no deposits. */
  deposits: RequestedDeposits | undefined;
}

type GenesisValues = FlagValues<typeof DEV_GENESIS_FLAGS> & {
  el: readonly string[];
  eth1: readonly string[];
  speed: number;
};

/** SLOTS_PER_EPOCH of the presets (consensus specs, presets/minimal/phase0.yaml and presets/mainnet/phase0.yaml). */
const SLOTS_PER_EPOCH: Record<DevPreset, number> = { minimal: 8, mainnet: 32 };
/** Slots of a voting period (EPOCHS_PER_ETH1_VOTING_PERIOD of the same presets). */
const VOTING_PERIOD_SLOTS: Record<DevPreset, number> = { minimal: 32, mainnet: 2048 };

const DEFAULT_VALIDATORS = 64;
/** Default chain id of the deposit contract's chain without `--el`; with `--el` it is read from the execution client. */
const ANVIL_CHAIN_ID = 31337;
const DEFAULT_FORK = DEV_FORKS.at(-1)!;

/** What the flags do not say is as it is in the chain that is stored, or else the default. */
export function devGenesis(values: GenesisValues, stored: DevIdentity | null, workingDirectory: string): DevGenesis {
  const preset = values.preset ?? (stored?.preset as DevPreset | undefined) ?? "minimal";
  const validators = values.validators ?? keyCount(values) ?? stored?.validators ?? DEFAULT_VALIDATORS;
  const fewest = SLOTS_PER_EPOCH[preset];
  if (validators < fewest) {
    throw usageError(
      `--validators ${validators} is too few: every slot of an epoch needs a committee, so the ${preset} preset needs at least ${fewest}.`,
    );
  }
  requireKeysFor(validators, values);
  const forks = devForks(values, stored);
  const slotSeconds = values.slotSeconds ?? stored?.slotSeconds ?? 2;
  const warmupEpochs = values.warmupEpochs ?? stored?.warmupEpochs ?? 5;
  if (stored === null) requireTimeForHistory({ preset, slotSeconds, warmupEpochs });
  return {
    preset,
    validators,
    forks,
    slotSeconds,
    warmupEpochs,
    genesisTime: values.genesisTime,
    keys: keySource(values, workingDirectory) ?? stored?.keys,
    withdrawals: unlessEmpty(values.withdrawals) ?? stored?.withdrawals,
    balances: unlessEmpty(values.balances) ?? stored?.balances,
    configOverrides: configOverrides(values) ?? stored?.configOverrides,
    deposits: devDeposits(values, { preset, forks }, stored),
  };
}

/** States tell when their chain began in seconds since 1970. */
function requireTimeForHistory(genesis: Pick<DevGenesis, "preset" | "slotSeconds" | "warmupEpochs">): void {
  const { preset, slotSeconds, warmupEpochs } = genesis;
  const most = Math.floor((TIME_OF_DAY.nowSeconds() - 1) / (SLOTS_PER_EPOCH[preset] * slotSeconds));
  if (warmupEpochs <= most) return;
  throw usageError(
    `The chain would begin before 1970: of the slots of ${slotSeconds} seconds (--slot-seconds) at most ${most} epochs ` +
      `can be built ahead, not ${warmupEpochs} (--warmup-epochs).`,
  );
}

function devForks({ fork, forkAt }: GenesisValues, stored: DevIdentity | null): readonly ScheduledFork[] {
  if (stored !== null && forkAt.length === 0 && (fork === undefined || fork === forkAtGenesis(stored.forks))) {
    return stored.forks;
  }
  return forkSchedule(fork ?? forkBefore(forkAt) ?? DEFAULT_FORK, forkAt);
}

/** A chain that is to go through some forks starts in the one before them; undefined when there are none. */
function forkBefore(later: readonly ScheduledFork[]): DevFork | undefined {
  if (later.length === 0) return undefined;
  const first = Math.min(...later.map(({ fork }) => DEV_FORKS.indexOf(fork)));
  return DEV_FORKS[Math.max(0, first - 1)];
}

/** Undefined for the well-known test keys from 0 on. */
export function keySource(values: FlagValues<typeof KEY_FLAGS>, workingDirectory: string): KeySource | undefined {
  const { interopKeys, mnemonic, mnemonicFile } = values;
  const given = Object.entries({
    "--interop-keys": interopKeys,
    "--mnemonic-file": mnemonicFile,
    "--mnemonic": mnemonic,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (given.length > 1) {
    throw usageError(`${given.join(" and ")} exclude each other: the keys of a chain come from one source.`);
  }
  if (interopKeys !== undefined) return { kind: "interop", first: interopKeys.first };
  const words = mnemonic ?? (mnemonicFile && readMnemonic(resolve(workingDirectory, mnemonicFile)));
  if (words === undefined) return undefined;
  return { kind: "mnemonic", mnemonic: words.normalize("NFKD").toLowerCase().trim().split(/\s+/).join(" ") };
}

function readMnemonic(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError("unreadableInput", `The mnemonic file ${file} cannot be read: ${reason}.`, error);
  }
}

/** How many keys are named; undefined where only the first one is. */
function keyCount({ interopKeys }: FlagValues<typeof KEY_FLAGS>): number | undefined {
  return interopKeys?.last === undefined ? undefined : interopKeys.last - interopKeys.first + 1;
}

function requireKeysFor(validators: number, values: GenesisValues): void {
  const count = keyCount(values);
  if (count === undefined || count === validators) return;
  const { first, last } = values.interopKeys!;
  throw usageError(
    `--interop-keys ${first}-${last} names ${count} keys, but the chain has ${validators} validators: each needs one.`,
  );
}

function configOverrides({ config }: GenesisValues): ConfigOverrides | undefined {
  if (config.length === 0) return undefined;
  const overrides: Record<string, string> = {};
  for (const { name, value } of config) {
    const earlier = overrides[name];
    if (earlier !== undefined && earlier !== value) {
      throw usageError(`--config gives ${name} two values, ${earlier} and ${value}; it can have one.`);
    }
    overrides[name] = value;
  }
  return overrides;
}

/**
 * Unless it is told otherwise, votes keep behind the deposit chain by a whole voting period, so that every block is a candidate
 * once, however rare blocks are there.
 */
function devDeposits(
  values: GenesisValues,
  { preset, forks }: Pick<DevGenesis, "preset" | "forks">,
  stored: DevIdentity | null,
): RequestedDeposits | undefined {
  const { el, eth1, speed } = values;
  const contract = values.depositContract ?? stored?.deposits?.contract;
  if (contract === undefined) {
    if (eth1.length === 0) return undefined;
    throw usageError(
      "--eth1 is of no use to a dev chain without --deposit-contract, the address where deposits are made.",
    );
  }
  if (stored === null && el.length === 0 && forkAtGenesis(forks) === "fulu") {
    throw usageError(
      "--deposit-contract is of no use to a chain that starts in fulu without --el: from there on deposits come with the payloads of an " +
        "execution client alone. Give --el, or --fork electra or an earlier one; without a contract, dev_deposit makes deposits.",
    );
  }
  if (eth1.length > 0 && speed !== 1) {
    throw usageError(
      `--eth1 and --speed ${speed} exclude each other: votes are for blocks of the deposit chain by their time, which is the real time.`,
    );
  }
  const defaultChainId = el.length === 0 ? ANVIL_CHAIN_ID : undefined;
  const chainId = values.depositChainId ?? stored?.deposits?.chainId ?? defaultChainId;
  const followDistance = values.eth1FollowDistance ?? stored?.deposits?.followDistance ?? VOTING_PERIOD_SLOTS[preset];
  return { contract, chainId, followDistance };
}

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);
