import type { NetworkingOptions } from "../../network/networking-options.ts";
import { usageError } from "../exit.ts";
import { givenBootnodes, networkBootnodes } from "./bootnodes.ts";
import type { FlagValues } from "./flag.ts";
import type { networkFlags } from "./network-flags.ts";
import type { Network } from "./preset.ts";

type NetworkValues = FlagValues<ReturnType<typeof networkFlags>>;

/** Undefined when no other nodes are wanted. */
function networkingOptions(values: NetworkValues, bootnodes: readonly string[]): NetworkingOptions | undefined {
  if (!values.p2p) return undefined;
  const { p2pAddress: address, p2pPort: port, discovery, peers, targetPeers } = values;
  return { address, port, discovery, bootnodes, directPeers: [...new Set(peers)], targetPeers };
}

export function devNetworking(
  values: NetworkValues & { speed: number },
  workingDirectory: string,
): NetworkingOptions | undefined {
  const named = values.peers.length > 0 ? "--peer" : values.bootnodes.length > 0 ? "--bootnodes" : undefined;
  if (!values.p2p && named !== undefined) {
    throw usageError(`${named} is of no use without --p2p: a dev chain keeps to itself unless --p2p is given.`);
  }
  if (values.p2p && values.speed !== 1) {
    throw usageError(
      `--p2p and --speed ${values.speed} exclude each other: with other nodes a chain's time is the real time.`,
    );
  }
  return networkingOptions(values, givenBootnodes(values.bootnodes, workingDirectory));
}

export function nodeNetworking(
  values: NetworkValues,
  { directory }: Network,
  workingDirectory: string,
): NetworkingOptions | undefined {
  if (!values.p2p) return undefined;
  const ofNetwork = directory === undefined ? [] : networkBootnodes(directory);
  const bootnodes = new Set([...givenBootnodes(values.bootnodes, workingDirectory), ...ofNetwork]);
  return networkingOptions(values, [...bootnodes]);
}
