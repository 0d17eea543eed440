import { type ChainConfig, createForkConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { StartError } from "../start-error.ts";
import type { ChainLocation } from "../storage/data-directory.ts";
import type { GenesisIdentity } from "./genesis-file.ts";
import type { NamedNetwork } from "./network-config.ts";
import { genesisDifference, knownGenesis } from "./network-genesis.ts";

/** Identity of a network's stored chain. */
export interface NodeIdentity extends GenesisIdentity {
  kind: "node";
  network: string;
  genesisForkVersion: string;
  /** Epochs of scheduled forks. Missing for chains created by earlier versions. */
  forkEpochs?: Readonly<Record<string, Epoch>>;
}

export function createNodeIdentity(config: ChainConfig, network: NamedNetwork, genesis: GenesisIdentity): NodeIdentity {
  return {
    kind: "node",
    network: network.name,
    ...genesis,
    genesisForkVersion: toHex(config.GENESIS_FORK_VERSION),
    forkEpochs: forkEpochsOf(config),
  };
}

function forkEpochsOf(config: ChainConfig): Record<string, Epoch> {
  const scheduled = Object.values(createForkConfig(config).forks).filter(({ epoch }) => Number.isFinite(epoch));
  return Object.fromEntries(scheduled.map(({ name, epoch }) => [name, epoch]));
}

/**
 * Throws a `StartError` unless the stored chain belongs to the network and activated its past forks at the scheduled
 * epochs.
 */
export async function requireSameNetwork(
  stored: NodeIdentity,
  config: ChainConfig,
  network: NamedNetwork,
  { name, db }: ChainLocation,
): Promise<void> {
  const mismatch = (storedChain: string) =>
    new StartError(
      db ? "otherChain" : "unreadableInput",
      `${name} holds ${storedChain}, not the chain of network "${network.name}".`,
    );
  if (stored.kind !== "node") throw mismatch("a dev chain");
  if (stored.genesisForkVersion !== toHex(config.GENESIS_FORK_VERSION)) {
    throw mismatch(`the chain of network "${stored.network}"`);
  }
  const expectedGenesis = knownGenesis(network);
  const difference = expectedGenesis && genesisDifference(stored, expectedGenesis);
  if (difference !== undefined) throw mismatch(`another chain (${difference})`);
  const contradiction = db && scheduleContradiction(stored, config, await newestEpoch(db));
  if (contradiction === undefined) return;
  throw new StartError(
    "otherSchedule",
    `${name} holds the chain of network "${network.name}" with another fork schedule: ${contradiction}.`,
  );
}

/** Describes the first fork that the chain has passed and whose epoch has changed. Future forks may be rescheduled. */
function scheduleContradiction(
  { forkEpochs: stored }: NodeIdentity,
  config: ChainConfig,
  newest: Epoch,
): string | undefined {
  if (!stored) return undefined;
  const current = forkEpochsOf(config);
  for (const fork of Object.keys({ ...stored, ...current })) {
    const [there, now] = [stored, current].map((epochs) => epochs[fork] ?? Number.POSITIVE_INFINITY) as [Epoch, Epoch];
    if (there !== now && Math.min(there, now) <= newest) {
      return `${fork} begins ${epochText(there)} there and ${epochText(now)} now`;
    }
  }
  return undefined;
}

const epochText = (epoch: Epoch): string => (Number.isFinite(epoch) ? `at epoch ${epoch}` : "never");

/** Returns the epoch of the newest stored block or finalized state. */
async function newestEpoch(db: BeaconDb): Promise<Epoch> {
  const newestBlock = await db.hotBlocks.last();
  const finalized = await db.meta.getFinalized();
  return Math.max(computeEpochAtSlot(newestBlock?.slot ?? 0), finalized?.epoch ?? 0);
}

/** Stores the current fork schedule of a chain. */
export async function storeForkSchedule(db: BeaconDb, stored: NodeIdentity, config: ChainConfig): Promise<void> {
  const forkEpochs = forkEpochsOf(config);
  // The past schedule of a chain created by an earlier version is unknown.
  if (!stored.forkEpochs || JSON.stringify(stored.forkEpochs) === JSON.stringify(forkEpochs)) return;
  const batch = db.batch();
  batch.meta.putIdentity({ ...stored, forkEpochs } satisfies NodeIdentity);
  await batch.write();
}
