import { resolve } from "node:path";
import { DEFAULT_CHAIN_SETTINGS } from "../../../chain/settings.ts";
import type { DevIdentity } from "../../../dev/identity.ts";
import type { DevSettings } from "../../../dev/settings.ts";
import type { NetworkSettings } from "../../../network/network-settings.ts";
import type { NodeSettings } from "../../../node/settings.ts";
import { usageError } from "../../exit.ts";
import { CHAIN_FLAGS } from "../chain/chain-flags.ts";
import { executionSettings } from "../execution/execution-flags.ts";
import { type FlagValues, valuesOf } from "../flag.ts";
import { givenBootnodes } from "../network/bootnodes.ts";
import { type NetworkValues, networkSettings } from "../network/network-flags.ts";
import { ethRpcSettings } from "../server/eth-rpc-flags.ts";
import { signerSettings } from "../server/signer-flags.ts";
import { type ProcessSettings, sharedSettings } from "../shared-settings.ts";
import type { DEV_FLAGS } from "./dev-flags.ts";
import { type DevPreset, devGenesis } from "./dev-genesis.ts";
import { devBlobs } from "./validator-flags.ts";
import { listedValidators } from "./validator-list.ts";

/** Settings of `fanal dev`. */
export interface DevCommandSettings extends NodeSettings, DevSettings, ProcessSettings {
  preset: DevPreset;
}

type DevValues = FlagValues<typeof DEV_FLAGS>;

export const devDataDir = ({ dataDir }: Pick<DevValues, "dataDir">, workingDirectory: string): string =>
  resolve(workingDirectory, dataDir ?? ".fanal/dev");

/** Converts flags to settings. Genesis settings default to those of the stored chain. */
export function devSettings(
  values: DevValues,
  workingDirectory: string,
  stored: DevIdentity | null = null,
): DevCommandSettings {
  const speed = speedOf(values);
  const { catchUp, reset } = values;
  const genesis = devGenesis({ ...values, speed }, stored, workingDirectory);
  if (catchUp && speed !== 1) {
    throw usageError(
      `--catch-up and --speed ${speed} are mutually exclusive: only at speed 1 does chain time follow the wall clock.`,
    );
  }
  if (values.el.length > 0 && speed !== 1) {
    throw usageError(`--el and --speed ${speed} are mutually exclusive: execution clients run in real time.`);
  }
  const dataDir = devDataDir(values, workingDirectory);
  const shared = sharedSettings(values, workingDirectory);
  const hasEvm = genesis.evm !== undefined;
  return {
    ...shared,
    servers: {
      ...shared.servers,
      ethRpc: ethRpcSettings(values, { hasEvm }, workingDirectory),
      signer: signerSettings(values, workingDirectory),
    },
    ...genesis,
    dataDir,
    chain: { ...DEFAULT_CHAIN_SETTINGS, ...valuesOf(CHAIN_FLAGS, values) },
    execution: executionSettings(values, dataDir, workingDirectory),
    activeValidators: listedValidators(values.devValidators, genesis.validators, "--dev-validators"),
    devBlobs: devBlobs({ ...values, evm: hasEvm }),
    speed,
    catchUp,
    reset,
    networking: devNetworking(values, workingDirectory),
  };
}

/** Treats `--no-auto` as speed 0. */
const speedOf = ({ auto, speed }: { auto: boolean; speed: number }) => (auto ? speed : 0);

function devNetworking(
  values: NetworkValues & { auto: boolean; speed: number },
  workingDirectory: string,
): NetworkSettings | undefined {
  const peerFlag = values.peers.length > 0 ? "--peer" : values.bootnodes.length > 0 ? "--bootnodes" : undefined;
  if (!values.p2p && peerFlag !== undefined) {
    throw usageError(`${peerFlag} requires --p2p: a dev chain has no networking by default.`);
  }
  if (values.p2p && speedOf(values) !== 1) {
    const other = values.auto ? `--speed ${values.speed}` : "--no-auto";
    throw usageError(`--p2p and ${other} are mutually exclusive: a chain with peers runs in real time.`);
  }
  return networkSettings(values, givenBootnodes(values.bootnodes, workingDirectory));
}
