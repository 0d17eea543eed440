import type { ChainConfig } from "@lodestar/config";
import { toHex } from "@lodestar/utils";
import type { ChainHolder } from "./data-directory.ts";
import type { NamedNetwork } from "./network-config.ts";
import { type GenesisIdentity, genesisDifference, knownGenesis } from "./network-genesis.ts";
import { StartError } from "./start-error.ts";

/** What the data directory of a node is recognised by. */
export interface NodeIdentity extends GenesisIdentity {
  kind: "node";
  network: string;
  genesisForkVersion: string;
}

/** Throws a `StartError` unless a stored chain is that of a network. */
export function requireSameNetwork(
  stored: NodeIdentity,
  { GENESIS_FORK_VERSION }: ChainConfig,
  network: NamedNetwork,
  holder: ChainHolder,
): void {
  const mismatch = (held: string) =>
    new StartError(holder.mismatch, `${holder.name} holds ${held}, not the chain of the network ${network.name}.`);
  if (stored.kind !== "node") throw mismatch("a dev chain");
  if (stored.genesisForkVersion !== toHex(GENESIS_FORK_VERSION)) {
    throw mismatch(`the chain of the network ${stored.network}`);
  }
  const known = knownGenesis(network);
  const difference = known && genesisDifference(stored, known);
  if (difference !== undefined) throw mismatch(`another chain (${difference})`);
}
