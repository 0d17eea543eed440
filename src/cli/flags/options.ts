import { resolve } from "node:path";
import type { MonitorSelection } from "../../chain/monitor/monitored-validators.ts";
import type { KzgChoice } from "../../data/kzg/backend.ts";
import type { BlobCounts } from "../../dev/dev-blobs.ts";
import type { KeySource } from "../../dev/genesis-parameters.ts";
import type { DevIdentity } from "../../dev/identity.ts";
import type { LogFormat } from "../../log/pino-logger.ts";
import type { LogFile } from "../../log/rotating-file.ts";
import type { NetworkingOptions } from "../../network/networking-options.ts";
import type { CheckpointSource } from "../../node/checkpoint/anchor-block.ts";
import type { BuilderOptions } from "../../node/execution/builder-options.ts";
import type { ExecutionClientOptions } from "../../node/execution/execution-client.ts";
import type { ServerLimits } from "../../node/servers/server-limits.ts";
import { usageError } from "../exit.ts";
import { type DevGenesis, devGenesis, keySource } from "./dev/dev-genesis.ts";
import { listedValidators, monitorSelection, type ValidatorList } from "./dev/validator-list.ts";
import { builderOptions } from "./execution/builder-flags.ts";
import { executionClient } from "./execution/execution-flags.ts";
import type { FlagValues } from "./flag.ts";
import type { DEV_FLAGS, NODE_FLAGS, SHARED_FLAGS } from "./flags.ts";
import type { LogValues } from "./log-flags.ts";
import { givenBootnodes, networkBootnodes } from "./network/bootnodes.ts";
import type { networkFlags } from "./network/network-flags.ts";
import { absoluteSource, checkpointSource } from "./node/checkpoint-source.ts";
import { type Network, resolveNetwork } from "./node/preset.ts";
import { serverLimits } from "./server/limit-flags.ts";
import { type ServerAccess, serverAccess } from "./server/server-access.ts";
import type { ServerValues } from "./server/server-flags.ts";
import { requireDistinctPorts } from "./server/server-ports.ts";

/** Server settings. */
export interface ServerSettings {
  rpc: boolean;
  /** 0 for any free port. */
  rpcPort: number;
  rpcAddress: string;
  rpcAccess: ServerAccess;
  /** Serves the web interface. */
  web: boolean;
  rest: boolean;
  /** 0 for any free port. */
  restPort: number;
  restAddress: string;
  restAccess: ServerAccess;
  metrics: boolean;
  /** 0 for any free port. */
  metricsPort: number;
  metricsAddress: string;
}

export interface LogOptions {
  /** Log specification. */
  logLevel: string;
  logFormat: LogFormat;
  /** Undefined to log to standard output only. */
  logFile: LogFile | undefined;
  /** Undefined for no access log. */
  accessLog: LogFile | "standard output" | undefined;
}

export interface SharedOptions extends ServerSettings, LogOptions {
  limits: ServerLimits;
  /** An absolute path. */
  dataDir: string;
  /** 32 bytes, or undefined for the node's own default. */
  graffiti: Uint8Array | undefined;
  graffitiCodes: boolean;
  /** 20 bytes; undefined for the zero address. */
  suggestedFeeRecipient: Uint8Array | undefined;
  proposerReorgs: boolean;
  /** Undefined for a node that monitors no validators. */
  monitorValidators: MonitorSelection | undefined;
  kzgBackend: KzgChoice;
  trackFutures: boolean;
  /** Undefined without a builder. */
  builder: BuilderOptions | undefined;
  /** URLs of deposit chain nodes; empty if it is not followed. */
  eth1: readonly string[];
  /** Undefined without peer-to-peer networking. */
  networking: NetworkingOptions | undefined;
  /** Undefined without an execution client. */
  execution: ExecutionClientOptions | undefined;
}

export interface DevOptions extends SharedOptions, DevGenesis {
  /** Indices of the in-process validators; undefined for all. */
  activeValidators: readonly number[] | undefined;
  devBlobs: BlobCounts;
  speed: number;
  catchUp: boolean;
  reset: boolean;
}

export interface NodeOptions extends SharedOptions {
  network: Network;
  /** In slots; undefined for the default, which depends on the slot time of the network. */
  syncHorizon: number | undefined;
  /** Infinite for the whole history; undefined for MIN_EPOCHS_FOR_BLOCK_REQUESTS. */
  backfillEpochs: number | undefined;
  safeSlotsToImportOptimistically: number;
  /** An absolute path or an http(s) URL. */
  genesisState: string | undefined;
  /** Undefined for a node that starts from genesis. */
  checkpoint: CheckpointSource | undefined;
  /** In-process validators of a dev chain's network. Resolved once the number of validators is known. */
  devValidators: ValidatorList;
  /** Blobs in blocks of these validators. */
  devBlobs: BlobCounts;
  /** Key source of these validators; undefined for interop keys. */
  keys: KeySource | undefined;
}

function sharedOptions(values: SharedValues, workingDirectory: string): Pick<SharedOptions, SharedOption> {
  const { graffiti, graffitiCodes, trackFutures } = values;
  return {
    ...serverSettings(values, workingDirectory),
    ...logOptions(values, workingDirectory),
    limits: serverLimits(values),
    graffiti,
    graffitiCodes,
    suggestedFeeRecipient: values.suggestedFeeRecipient,
    proposerReorgs: values.proposerReorgs,
    monitorValidators: monitorSelection(values.monitorValidators),
    kzgBackend: values.kzg,
    trackFutures,
    builder: builderOptions(values),
    eth1: [...new Set(values.eth1)],
  };
}

export function serverSettings(values: ServerValues, workingDirectory: string): ServerSettings {
  const { rpc, rpcPort, rpcAddress, web, rest, restPort, restAddress } = values;
  const { metrics, metricsPort, metricsAddress } = values;
  requireDistinctPorts([
    { flagPrefix: "rpc", isOn: rpc, address: rpcAddress, port: rpcPort },
    { flagPrefix: "rest", isOn: rest, address: restAddress, port: restPort },
    { flagPrefix: "metrics", isOn: metrics, address: metricsAddress, port: metricsPort },
  ]);
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
  const apis = { rpc, rpcPort, rpcAddress, rpcAccess, web, rest, restPort, restAddress, restAccess };
  return { ...apis, metrics, metricsPort, metricsAddress };
}

export function logOptions(values: LogValues, workingDirectory: string): LogOptions {
  const { logLevel, logFormat, logFile, accessLog } = values;
  const fileAt = (path: string): LogFile => ({
    path: resolve(workingDirectory, path),
    maxBytes: values.logFileSize * 1024 * 1024,
    count: values.logFileCount,
  });
  return {
    logLevel,
    logFormat,
    logFile: logFile === undefined ? undefined : fileAt(logFile),
    accessLog: accessLog === undefined ? undefined : accessLog === "-" ? "standard output" : fileAt(accessLog),
  };
}

type SharedValues = FlagValues<typeof SHARED_FLAGS>;

/** Options whose defaults do not depend on the command. */
type SharedOption = Exclude<keyof SharedOptions, "dataDir" | "networking" | "execution">;

type DevValues = FlagValues<typeof DEV_FLAGS>;

export const devDataDir = ({ dataDir }: Pick<DevValues, "dataDir">, workingDirectory: string): string =>
  resolve(workingDirectory, dataDir ?? ".fanal/dev");

/** Converts flags to options. Genesis settings fall back to the stored chain. */
export function devOptions(values: DevValues, workingDirectory: string, stored: DevIdentity | null = null): DevOptions {
  const speed = speedOf(values);
  const { catchUp, reset } = values;
  const genesis = devGenesis({ ...values, speed }, stored, workingDirectory);
  if (catchUp && speed !== 1) {
    throw usageError(
      `--catch-up and --speed ${speed} exclude each other: only at speed 1 does chain time follow the time of day.`,
    );
  }
  if (values.el.length > 0 && speed !== 1) {
    throw usageError(`--el and --speed ${speed} exclude each other: execution clients run in real time.`);
  }
  const dataDir = devDataDir(values, workingDirectory);
  return {
    ...sharedOptions(values, workingDirectory),
    ...genesis,
    dataDir,
    execution: executionClient(values, dataDir, workingDirectory),
    activeValidators: listedValidators(values.devValidators, genesis.validators, "--dev-validators"),
    devBlobs: devBlobs({ ...values, evm: genesis.evm !== undefined }),
    speed,
    catchUp,
    reset,
    networking: devNetworking(values, workingDirectory),
  };
}

function devBlobs(values: { devBlobs: BlobCounts; el: readonly string[]; evm?: boolean }): BlobCounts {
  if (values.evm && values.devBlobs.most > 0) {
    throw usageError("--dev-blobs and --evm exclude each other: the EVM has the blobs of its transactions.");
  }
  if (values.el.length > 0 && values.devBlobs.most > 0) {
    throw usageError(
      "--dev-blobs and --el exclude each other: with an execution client, blobs come from its transactions.",
    );
  }
  return values.devBlobs;
}

/** `--no-auto` is the same as speed 0. */
const speedOf = ({ auto, speed }: { auto: boolean; speed: number }) => (auto ? speed : 0);

export function nodeOptions(values: FlagValues<typeof NODE_FLAGS>, workingDirectory: string): NodeOptions {
  const network = resolveNetwork(values.network, workingDirectory);
  const dataDir = resolve(workingDirectory, values.dataDir ?? `.fanal/${network.name}`);
  return {
    ...sharedOptions(values, workingDirectory),
    dataDir,
    execution: executionClient(values, dataDir, workingDirectory),
    network,
    syncHorizon: values.syncHorizon,
    backfillEpochs: values.backfillEpochs,
    safeSlotsToImportOptimistically: values.safeSlotsToImportOptimistically,
    genesisState: absoluteSource(values.genesisState, workingDirectory),
    checkpoint: checkpointSource(values, workingDirectory),
    devValidators: values.devValidators,
    devBlobs: nodeBlobs(values),
    keys: nodeKeys(values, workingDirectory),
    networking: nodeNetworking(values, network, workingDirectory),
  };
}

function nodeBlobs(values: FlagValues<typeof NODE_FLAGS>): BlobCounts {
  const counts = devBlobs(values);
  if (counts.most === 0 || values.devValidators.length > 0) return counts;
  throw usageError("--dev-blobs requires --dev-validators, whose blocks carry the blobs.");
}

function nodeKeys(values: FlagValues<typeof NODE_FLAGS>, workingDirectory: string): KeySource | undefined {
  const keys = keySource(values, workingDirectory);
  if (keys === undefined || values.devValidators.length > 0) return keys;
  throw usageError("Validator keys require --dev-validators, the validators to run.");
}

type NetworkValues = FlagValues<ReturnType<typeof networkFlags>>;

/** Returns networking options; undefined with --no-p2p. */
function networkingOptions(values: NetworkValues, bootnodes: readonly string[]): NetworkingOptions | undefined {
  if (!values.p2p) return undefined;
  const { p2pAddress: address, p2pPort: port, discovery, peers, targetPeers, supernode } = values;
  return { address, port, discovery, bootnodes, directPeers: [...new Set(peers)], targetPeers, supernode };
}

function devNetworking(
  values: NetworkValues & { auto: boolean; speed: number },
  workingDirectory: string,
): NetworkingOptions | undefined {
  const named = values.peers.length > 0 ? "--peer" : values.bootnodes.length > 0 ? "--bootnodes" : undefined;
  if (!values.p2p && named !== undefined) {
    throw usageError(`${named} requires --p2p: a dev chain has no networking by default.`);
  }
  if (values.p2p && speedOf(values) !== 1) {
    const other = values.auto ? `--speed ${values.speed}` : "--no-auto";
    throw usageError(`--p2p and ${other} exclude each other: a chain with peers runs in real time.`);
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
