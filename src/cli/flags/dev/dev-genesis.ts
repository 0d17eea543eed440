import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { TIME_OF_DAY } from "../../../chain/clock/time-of-day.ts";
import type { DepositContractOptions } from "../../../dev/chain-config.ts";
import type { BlobCounts } from "../../../dev/dev-blobs.ts";
import { DEFAULT_FORK, DEV_FORKS, type DevFork, forkAtGenesis, type ScheduledFork } from "../../../dev/forks.ts";
import { type ConfigOverrides, EVM_WITHDRAWALS, type KeySource } from "../../../dev/genesis-parameters.ts";
import type { DevIdentity } from "../../../dev/identity.ts";
import type { DevGenesisSettings } from "../../../dev/settings.ts";
import { StartupError, usageError } from "../../exit.ts";
import type { FlagValues } from "../flag.ts";
import type { DEV_GENESIS_FLAGS, DEV_PRESETS, KEY_FLAGS } from "./dev-genesis-flags.ts";
import { type ForkActivation, forkSchedule } from "./fork-schedule.ts";
import { memoryLimits, memoryProblem } from "./validator-memory.ts";

export type DevPreset = (typeof DEV_PRESETS)[number];

/** Genesis settings of a dev chain, including the preset of the process. */
interface DevGenesis extends DevGenesisSettings {
  preset: DevPreset;
}

type GenesisValues = FlagValues<typeof DEV_GENESIS_FLAGS> & {
  el: readonly string[];
  eth1: readonly string[];
  devBlobs: BlobCounts;
  speed: number;
};

/** SLOTS_PER_EPOCH by preset (consensus specs, presets/minimal/phase0.yaml and presets/mainnet/phase0.yaml). */
const SLOTS_PER_EPOCH: Record<DevPreset, number> = { minimal: 8, mainnet: 32 };
/** Slots per voting period, by preset (EPOCHS_PER_ETH1_VOTING_PERIOD in the same files). */
const VOTING_PERIOD_SLOTS: Record<DevPreset, number> = { minimal: 32, mainnet: 2048 };

const DEFAULT_VALIDATORS = 64;
const GWEI_PER_ETHER = 1e9;
/** The funded accounts of the EVM, and what each of them can deposit, in Gwei: all but a hundredth. */
const ACCOUNTS = 10;
const SPENDABLE = 9_900 * GWEI_PER_ETHER;
/** Default chain id of the EVM and, without `--el`, of the deposit contract's chain. Same as in Anvil and Hardhat. */
const ANVIL_CHAIN_ID = 31337;

/** Resolves the genesis settings: flags first, then the stored chain, then defaults. */
export function devGenesis(values: GenesisValues, stored: DevIdentity | null, workingDirectory: string): DevGenesis {
  const preset = values.preset ?? (stored?.preset as DevPreset | undefined) ?? "minimal";
  const validators = values.validators ?? keyCount(values) ?? stored?.validators ?? DEFAULT_VALIDATORS;
  const minValidators = SLOTS_PER_EPOCH[preset];
  if (validators < minValidators) {
    throw usageError(
      `--validators ${validators} is too few: the ${preset} preset requires at least ${minValidators}, one per slot.`,
    );
  }
  if (validators !== stored?.validators) requireMemoryFor(validators);
  requireKeysFor(validators, values);
  const forks = devForks(values, stored);
  const slotSeconds = values.slotSeconds ?? stored?.slotSeconds ?? 2;
  const warmupEpochs = values.warmupEpochs ?? stored?.warmupEpochs ?? 5;
  if (stored === null) requireTimeForHistory({ preset, slotSeconds, warmupEpochs });
  const evm = devEvm(values, forks, stored);
  const defaultWithdrawals = evm && EVM_WITHDRAWALS;
  return {
    preset,
    validators,
    forks,
    slotSeconds,
    warmupEpochs,
    genesisTime: values.genesisTime,
    keys: keySource(values, workingDirectory) ?? stored?.keys,
    withdrawals: unlessEmpty(values.withdrawals) ?? (stored ? stored.withdrawals : defaultWithdrawals),
    balances: unlessEmpty(values.balances) ?? stored?.balances,
    builders: devBuilders(values, { forks, hasEvm: evm !== undefined }, stored),
    configOverrides: configOverrides(values) ?? stored?.configOverrides,
    evm,
    deposits: devDeposits(values, { preset, forks }, stored),
  };
}

/** Requires a genesis time after 1970, because states contain it as Unix seconds. */
function requireTimeForHistory(genesis: Pick<DevGenesis, "preset" | "slotSeconds" | "warmupEpochs">): void {
  const { preset, slotSeconds, warmupEpochs } = genesis;
  const max = Math.floor((TIME_OF_DAY.nowSeconds() - 1) / (SLOTS_PER_EPOCH[preset] * slotSeconds));
  if (warmupEpochs <= max) return;
  throw usageError(
    `The genesis time would be before 1970: with --slot-seconds ${slotSeconds}, ` +
      `--warmup-epochs can be at most ${max}, got ${warmupEpochs}.`,
  );
}

function devForks(
  { fork, forkAt: listed, gloasAt }: GenesisValues,
  stored: DevIdentity | null,
): readonly ScheduledFork[] {
  const gloas: readonly ForkActivation[] =
    gloasAt === undefined ? [] : [{ fork: "gloas", epoch: gloasAt, flag: `--gloas-at ${gloasAt}` }];
  const forkAt = [...listed, ...gloas];
  if (stored !== null && forkAt.length === 0 && (fork === undefined || fork === forkAtGenesis(stored.forks))) {
    return stored.forks;
  }
  return forkSchedule(fork ?? forkBefore(forkAt) ?? DEFAULT_FORK, forkAt);
}

/** Returns the fork before the first of the later forks, or undefined if there are none. */
function forkBefore(later: readonly ScheduledFork[]): DevFork | undefined {
  if (later.length === 0) return undefined;
  const first = Math.min(...later.map(({ fork }) => DEV_FORKS.indexOf(fork)));
  return DEV_FORKS[Math.max(0, first - 1)];
}

/** Returns the source of validator keys selected by the flags. Undefined for the default: interop keys from index 0. */
export function keySource(values: FlagValues<typeof KEY_FLAGS>, workingDirectory: string): KeySource | undefined {
  const { interopKeys, mnemonic, mnemonicFile } = values;
  const flags = Object.entries({
    "--interop-keys": interopKeys,
    "--mnemonic-file": mnemonicFile,
    "--mnemonic": mnemonic,
  })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (flags.length > 1) {
    throw usageError(`${flags.join(" and ")} are mutually exclusive: a chain has one key source.`);
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

/** Returns the number of keys in the range, or undefined if only the first key is specified. */
function keyCount({ interopKeys }: FlagValues<typeof KEY_FLAGS>): number | undefined {
  return interopKeys?.last === undefined ? undefined : interopKeys.last - interopKeys.first + 1;
}

function requireMemoryFor(validators: number): void {
  const problem = memoryProblem(validators, memoryLimits());
  if (problem !== undefined) throw usageError(`--validators ${validators} is too many: ${problem}.`);
}

function requireKeysFor(validators: number, values: GenesisValues): void {
  const count = keyCount(values);
  if (count === undefined || count === validators) return;
  const { first, last } = values.interopKeys!;
  throw usageError(`--interop-keys ${first}-${last} has ${count} keys, but the chain has ${validators} validators.`);
}

function configOverrides({ config }: GenesisValues): ConfigOverrides | undefined {
  if (config.length === 0) return undefined;
  const overrides: Record<string, string> = {};
  for (const { name, value } of config) {
    const earlier = overrides[name];
    if (earlier !== undefined && earlier !== value) {
      throw usageError(`--config sets ${name} twice, to ${earlier} and ${value}.`);
    }
    overrides[name] = value;
  }
  return overrides;
}

/** Returns the builders of the chain. A stored chain keeps its builders. */
function devBuilders(
  { builders }: GenesisValues,
  { forks, hasEvm }: { forks: readonly ScheduledFork[]; hasEvm: boolean },
  stored: DevIdentity | null,
) {
  if (builders === undefined) return stored?.builders;
  if (!forks.some(({ fork }) => fork === "gloas")) {
    throw usageError(
      `--builders requires gloas, but the chain starts in ${forkAtGenesis(forks)}. Add --fork gloas or --gloas-at EPOCH.`,
    );
  }
  const { count, balance } = builders;
  const affordable = ACCOUNTS * Math.floor(SPENDABLE / balance);
  if (hasEvm && forkAtGenesis(forks) !== "gloas" && count > affordable) {
    throw usageError(
      `--builders ${count}:${balance / GWEI_PER_ETHER} is too much before gloas: the deposits are made from ` +
        `${ACCOUNTS} accounts of the EVM, which have ${SPENDABLE / GWEI_PER_ETHER} ETH each for them. ` +
        "Give fewer or poorer builders, or --fork gloas.",
    );
  }
  return builders;
}

/** Returns the chain id of the EVM, or undefined if there is no EVM. A stored chain keeps its chain id. */
function devEvm(
  values: GenesisValues,
  forks: readonly ScheduledFork[],
  stored: DevIdentity | null,
): { chainId: number } | undefined {
  const { evm, chainId, el, depositContract } = values;
  if (evm && el.length > 0) {
    throw usageError("--evm and --el are mutually exclusive: a chain has either the EVM or an execution client.");
  }
  if (evm && depositContract !== undefined) {
    throw usageError("--evm and --deposit-contract are mutually exclusive: the EVM has its own deposit contract.");
  }
  const byDefault = stored ? stored.evm !== undefined : canHaveEvm(values, forks);
  if (evm ?? byDefault) return { chainId: chainId ?? stored?.evm?.chainId ?? ANVIL_CHAIN_ID };
  if (chainId === undefined) return undefined;
  throw usageError("--chain-id requires the EVM: without it, a dev chain has no chain id to choose.");
}

function startsInOrAfter(fork: DevFork, forks: readonly ScheduledFork[]): boolean {
  return DEV_FORKS.indexOf(forkAtGenesis(forks)) >= DEV_FORKS.indexOf(fork);
}

/** True if no other option produces or requires the payloads of a new chain. */
function canHaveEvm({ el, depositContract, devBlobs }: GenesisValues, forks: readonly ScheduledFork[]): boolean {
  const startsMerged = startsInOrAfter("bellatrix", forks);
  return startsMerged && el.length === 0 && depositContract === undefined && devBlobs.max === 0;
}

/**
 * Returns the deposit contract options. The follow distance defaults to one voting period, so every block of the
 * deposit chain becomes a vote candidate once, even if blocks are rare.
 */
function devDeposits(
  values: GenesisValues,
  { preset, forks }: Pick<DevGenesis, "preset" | "forks">,
  stored: DevIdentity | null,
): DepositContractOptions | undefined {
  const { el, eth1, speed } = values;
  const contract = values.depositContract ?? stored?.deposits?.contract;
  if (contract === undefined) {
    if (eth1.length === 0) return undefined;
    throw usageError("--eth1 requires --deposit-contract on a dev chain, the address of the deposit contract.");
  }
  if (stored === null && el.length === 0 && startsInOrAfter("fulu", forks)) {
    throw usageError(
      `--deposit-contract requires --el on a chain that starts in ${forkAtGenesis(forks)}: from fulu on deposits come from the payloads of ` +
        "an execution client only. Give --el, or --fork electra or earlier. Without a contract, use dev_deposit.",
    );
  }
  if (eth1.length > 0 && speed !== 1) {
    throw usageError(
      `--eth1 and --speed ${speed} are mutually exclusive: eth1 votes depend on the real time of deposit chain blocks.`,
    );
  }
  const defaultChainId = el.length === 0 ? ANVIL_CHAIN_ID : undefined;
  const chainId = values.depositChainId ?? stored?.deposits?.chainId ?? defaultChainId;
  const followDistance = values.eth1FollowDistance ?? stored?.deposits?.followDistance ?? VOTING_PERIOD_SLOTS[preset];
  return { contract, chainId, followDistance };
}

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);
