import { resolve } from "node:path";
import type { DevDeposits } from "../../dev/chain-config.ts";
import type { ScheduledFork } from "../../dev/forks.ts";
import type { LogFormat } from "../../log/pino-logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import type { NetworkingOptions } from "../../network/networking-options.ts";
import type { CheckpointSource } from "../../node/anchor-block.ts";
import type { BuilderOptions } from "../../node/builder-options.ts";
import type { ExecutionClientOptions } from "../../node/execution-client.ts";
import type { ServerLimits } from "../../node/server-limits.ts";
import { usageError } from "../exit.ts";
import { givenBootnodes, networkBootnodes } from "./bootnodes.ts";
import { builderOptions } from "./builder-flags.ts";
import { absoluteSource, checkpointSource } from "./checkpoint-source.ts";
import { executionClient } from "./execution-flags.ts";
import type { FlagValues } from "./flag.ts";
import type { DEV_FLAGS, DEV_PRESETS, NODE_FLAGS, SHARED_FLAGS } from "./flags.ts";
import { forkSchedule } from "./fork-schedule.ts";
import { serverLimits } from "./limit-flags.ts";
import type { networkFlags } from "./network-flags.ts";
import { type Network, resolveNetwork } from "./preset.ts";
import { type ServerAccess, serverAccess } from "./server-access.ts";
import { listedValidators, type ValidatorList } from "./validator-list.ts";

export interface SharedOptions {
  rpc: boolean;
  /** 0 for any free port. */
  rpcPort: number;
  rpcAddress: string;
  rpcAccess: ServerAccess;
  rest: boolean;
  /** 0 for any free port. */
  restPort: number;
  restAddress: string;
  restAccess: ServerAccess;
  metrics: boolean;
  /** 0 for any free port. */
  metricsPort: number;
  metricsAddress: string;
  limits: ServerLimits;
  /** An absolute path. */
  dataDir: string;
  /** A log specification. */
  logLevel: string;
  logFormat: LogFormat;
  /** Undefined for a log that goes to standard output alone. */
  logFile: LogFile | undefined;
  /** 32 bytes, or undefined for the node's own default. */
  graffiti: Uint8Array | undefined;
  graffitiCodes: boolean;
  trackFutures: boolean;
  /** Undefined for a node that builds all its payloads itself. */
  builder: BuilderOptions | undefined;
  /** URLs of nodes of the deposit chain; none when it is not followed. */
  eth1: readonly string[];
  /** Undefined for a node that connects to no other. */
  networking: NetworkingOptions | undefined;
  /** Undefined for a node without an execution client. */
  execution: ExecutionClientOptions | undefined;
}

type DevPreset = (typeof DEV_PRESETS)[number];

export interface DevOptions extends SharedOptions {
  preset: DevPreset;
  validators: number;
  /** Indices of the validators that this process runs; undefined for all of them. */
  activeValidators: readonly number[] | undefined;
  /** Every fork the chain will have, in fork order, from phase0; those of epoch 0 are in force at genesis. */
  forks: readonly ScheduledFork[];
  slotSeconds: number;
  /** Undefined for a chain without a deposit contract. */
  deposits: DevDeposits | undefined;
  speed: number;
  warmupEpochs: number;
  /** Unix seconds; undefined for a chain whose warm-up history ends now. */
  genesisTime: number | undefined;
  catchUp: boolean;
  reset: boolean;
}

export interface NodeOptions extends SharedOptions {
  network: Network;
  /** In slots; undefined for the default of ten minutes, which is a number of slots only once the network is known. */
  syncHorizon: number | undefined;
  safeSlotsToImportOptimistically: number;
  /** An absolute path or an http(s) URL. */
  genesisState: string | undefined;
  /** Undefined for a node that starts from genesis. */
  checkpoint: CheckpointSource | undefined;
  /** Of a dev chain's network; how many there are is known only once the chain is open. */
  devValidators: ValidatorList;
}

/** SLOTS_PER_EPOCH of the presets (consensus specs, presets/minimal/phase0.yaml and presets/mainnet/phase0.yaml). */
const SLOTS_PER_EPOCH: Record<DevPreset, number> = { minimal: 8, mainnet: 32 };

function sharedOptions(values: SharedValues, workingDirectory: string): Pick<SharedOptions, SharedOption> {
  const { rpc, rpcPort, rpcAddress, rest, restPort, restAddress } = values;
  const { metrics, metricsPort, metricsAddress, logLevel, logFormat, graffiti, graffitiCodes, trackFutures } = values;
  const rpcAccess = serverAccess(
    {
      flagPrefix: "rpc",
      isOn: rpc,
      address: rpcAddress,
      vhosts: values.rpcVhosts,
      allowOrigin: values.rpcAllowOrigin,
      api: values.rpcApi,
      tokenFile: values.rpcTokenFile,
      allowAnyone: values.rpcAllowAnyone,
    },
    workingDirectory,
  );
  const restAccess = serverAccess(
    {
      flagPrefix: "rest",
      isOn: rest,
      address: restAddress,
      vhosts: values.restVhosts,
      allowOrigin: values.restAllowOrigin,
      api: values.restApi,
      tokenFile: values.restTokenFile,
      allowAnyone: values.restAllowAnyone,
    },
    workingDirectory,
  );
  const apis = { rpc, rpcPort, rpcAddress, rpcAccess, rest, restPort, restAddress, restAccess };
  const servers = { ...apis, metrics, metricsPort, metricsAddress };
  return {
    ...servers,
    limits: serverLimits(values),
    logLevel,
    logFormat,
    logFile: logFile(values, workingDirectory),
    graffiti,
    graffitiCodes,
    trackFutures,
    builder: builderOptions(values),
    eth1: [...new Set(values.eth1)],
  };
}

function logFile(
  { logFile: file, logFileSize, logFileCount }: Pick<SharedValues, "logFile" | "logFileSize" | "logFileCount">,
  workingDirectory: string,
): LogFile | undefined {
  if (file === undefined) return undefined;
  return { path: resolve(workingDirectory, file), maxBytes: logFileSize * 1024 * 1024, count: logFileCount };
}

type SharedValues = FlagValues<typeof SHARED_FLAGS>;

/** Each command has its own ways to name the data directory, where a secret may lie, and to find other nodes. */
type SharedOption = Exclude<keyof SharedOptions, "dataDir" | "networking" | "execution">;

export function devOptions(values: FlagValues<typeof DEV_FLAGS>, workingDirectory: string): DevOptions {
  const speed = speedOf(values);
  const { preset, validators, slotSeconds, warmupEpochs, genesisTime, catchUp, reset } = values;
  const fewest = SLOTS_PER_EPOCH[preset];
  if (validators < fewest) {
    throw usageError(
      `--validators ${validators} is too few: every slot of an epoch needs a committee, so the ${preset} preset needs at least ${fewest}.`,
    );
  }
  if (catchUp && speed !== 1) {
    throw usageError(
      `--catch-up and --speed ${speed} exclude each other: at another speed than 1 chain time leaves the time of day at once.`,
    );
  }
  if (values.el.length > 0 && speed !== 1) {
    throw usageError(
      `--el and --speed ${speed} exclude each other: execution clients go by the time of day, and so must their blocks.`,
    );
  }
  const dataDir = resolve(workingDirectory, values.dataDir ?? ".fanal/dev");
  return {
    ...sharedOptions(values, workingDirectory),
    dataDir,
    execution: executionClient(values, dataDir, workingDirectory),
    preset,
    validators,
    activeValidators: listedValidators(values.devValidators, validators, "--dev-validators"),
    forks: forkSchedule(values.fork, values.forkAt),
    slotSeconds,
    deposits: devDeposits(values),
    speed,
    warmupEpochs,
    genesisTime,
    catchUp,
    reset,
    networking: devNetworking(values, workingDirectory),
  };
}

/** Without `--auto` time stands still, as at the speed 0. */
const speedOf = ({ auto, speed }: { auto: boolean; speed: number }) => (auto ? speed : 0);

/** Slots of a voting period (EPOCHS_PER_ETH1_VOTING_PERIOD of the same presets). */
const VOTING_PERIOD_SLOTS: Record<DevPreset, number> = { minimal: 32, mainnet: 2048 };

/**
 * Unless it is told otherwise, votes keep behind the deposit chain by a whole voting period, so that every block is a candidate
 * once, however rare blocks are there.
 */
function devDeposits(values: FlagValues<typeof DEV_FLAGS>): DevDeposits | undefined {
  const speed = speedOf(values);
  const { preset, eth1, depositContract, depositChainId, eth1FollowDistance } = values;
  if (depositContract === undefined) {
    if (eth1.length === 0) return undefined;
    throw usageError(
      "--eth1 is of no use to a dev chain without --deposit-contract, the address where deposits are made.",
    );
  }
  if (eth1.length > 0 && speed !== 1) {
    throw usageError(
      `--eth1 and --speed ${speed} exclude each other: votes are for blocks of the deposit chain by their time, which is the real time.`,
    );
  }
  const followDistance = eth1FollowDistance ?? VOTING_PERIOD_SLOTS[preset];
  return { contract: depositContract, chainId: depositChainId, followDistance };
}

export function nodeOptions(values: FlagValues<typeof NODE_FLAGS>, workingDirectory: string): NodeOptions {
  const network = resolveNetwork(values.network, workingDirectory);
  const dataDir = resolve(workingDirectory, values.dataDir ?? `.fanal/${network.name}`);
  return {
    ...sharedOptions(values, workingDirectory),
    dataDir,
    execution: executionClient(values, dataDir, workingDirectory),
    network,
    syncHorizon: values.syncHorizon,
    safeSlotsToImportOptimistically: values.safeSlotsToImportOptimistically,
    genesisState: absoluteSource(values.genesisState, workingDirectory),
    checkpoint: checkpointSource(values, workingDirectory),
    devValidators: values.devValidators,
    networking: nodeNetworking(values, network, workingDirectory),
  };
}

type NetworkValues = FlagValues<ReturnType<typeof networkFlags>>;

/** Undefined when no other nodes are wanted. */
function networkingOptions(values: NetworkValues, bootnodes: readonly string[]): NetworkingOptions | undefined {
  if (!values.p2p) return undefined;
  const { p2pAddress: address, p2pPort: port, discovery, peers, targetPeers } = values;
  return { address, port, discovery, bootnodes, directPeers: [...new Set(peers)], targetPeers };
}

function devNetworking(
  values: NetworkValues & { auto: boolean; speed: number },
  workingDirectory: string,
): NetworkingOptions | undefined {
  const named = values.peers.length > 0 ? "--peer" : values.bootnodes.length > 0 ? "--bootnodes" : undefined;
  if (!values.p2p && named !== undefined) {
    throw usageError(`${named} is of no use without --p2p: a dev chain keeps to itself unless --p2p is given.`);
  }
  const speed = speedOf(values);
  if (values.p2p && speed !== 1) {
    throw usageError(
      `--p2p and --speed ${speed} exclude each other: with other nodes a chain's time is the real time.`,
    );
  }
  return networkingOptions(values, givenBootnodes(values.bootnodes, workingDirectory));
}

function nodeNetworking(
  values: NetworkValues,
  { directory }: Network,
  workingDirectory: string,
): NetworkingOptions | undefined {
  if (!values.p2p) return undefined;
  const ofNetwork = directory === undefined ? [] : networkBootnodes(directory);
  const bootnodes = new Set([...givenBootnodes(values.bootnodes, workingDirectory), ...ofNetwork]);
  return networkingOptions(values, [...bootnodes]);
}
