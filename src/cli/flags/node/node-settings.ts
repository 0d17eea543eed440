import { resolve } from "node:path";
import type { BlobCounts } from "../../../dev/dev-blobs.ts";
import type { KeySource } from "../../../dev/genesis-parameters.ts";
import type { NetworkSettings } from "../../../network/network-settings.ts";
import type { NetworkNodeSettings } from "../../../node/network-node.ts";
import { usageError } from "../../exit.ts";
import { CHAIN_FLAGS, NETWORK_CHAIN_FLAGS } from "../chain/chain-flags.ts";
import { keySource } from "../dev/dev-genesis.ts";
import { devBlobs } from "../dev/validator-flags.ts";
import type { ValidatorList } from "../dev/validator-list.ts";
import { executionSettings } from "../execution/execution-flags.ts";
import { type FlagValues, valuesOf } from "../flag.ts";
import { givenBootnodes, networkBootnodes } from "../network/bootnodes.ts";
import { type NetworkValues, networkSettings } from "../network/network-flags.ts";
import { type ProcessSettings, sharedSettings } from "../shared-settings.ts";
import { absoluteSource, checkpointSource } from "./checkpoint-source.ts";
import { type NODE_FLAGS, SYNC_FLAGS } from "./node-flags.ts";
import { type Network, resolveNetwork } from "./preset.ts";

/** Settings of `fanal node`. */
export interface NodeCommandSettings extends NetworkNodeSettings, ProcessSettings {
  network: Network;
  /** In-process validators on a dev chain's network. Resolved once the number of validators is known. */
  devValidators: ValidatorList;
}

type NodeValues = FlagValues<typeof NODE_FLAGS>;

export function nodeSettings(values: NodeValues, workingDirectory: string): NodeCommandSettings {
  const network = resolveNetwork(values.network, workingDirectory);
  const dataDir = resolve(workingDirectory, values.dataDir ?? `.fanal/${network.name}`);
  return {
    ...sharedSettings(values, workingDirectory),
    dataDir,
    chain: { ...valuesOf(CHAIN_FLAGS, values), ...valuesOf(NETWORK_CHAIN_FLAGS, values) },
    sync: valuesOf(SYNC_FLAGS, values),
    execution: executionSettings(values, dataDir, workingDirectory),
    network,
    genesisState: absoluteSource(values.genesisState, workingDirectory),
    checkpoint: checkpointSource(values, workingDirectory),
    devValidators: values.devValidators,
    devBlobs: nodeBlobs(values),
    keys: nodeKeys(values, workingDirectory),
    networking: nodeNetworking(values, network, workingDirectory),
  };
}

function nodeBlobs(values: NodeValues): BlobCounts {
  const counts = devBlobs(values);
  if (counts.max === 0 || values.devValidators.length > 0) return counts;
  throw usageError("--dev-blobs requires --dev-validators, whose blocks carry the blobs.");
}

function nodeKeys(values: NodeValues, workingDirectory: string): KeySource | undefined {
  const keys = keySource(values, workingDirectory);
  if (keys === undefined || values.devValidators.length > 0) return keys;
  throw usageError("Validator keys require --dev-validators, the validators to run.");
}

function nodeNetworking(
  values: NetworkValues,
  { directory }: Network,
  workingDirectory: string,
): NetworkSettings | undefined {
  if (!values.p2p) return undefined;
  const networkRecords = directory === undefined ? [] : networkBootnodes(directory);
  const bootnodes = new Set([...givenBootnodes(values.bootnodes, workingDirectory), ...networkRecords]);
  return networkSettings(values, [...bootnodes]);
}
