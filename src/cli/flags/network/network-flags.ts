import type { NetworkSettings } from "../../../network/network-settings.ts";
import { booleanFlag, type FlagValues, listFlag, valueFlag } from "../flag.ts";
import { wholeNumber } from "../flag-values.ts";
import { bootnode, ipAddress, peerAddress } from "./peer-values.ts";

interface NetworkDefaults {
  isOn: boolean;
  address: string;
  isSupernode: boolean;
}

/** Returns the peer-to-peer flags with command-specific defaults. */
export function networkFlags({ isOn, address, isSupernode }: NetworkDefaults) {
  return {
    p2p: booleanFlag({ name: "p2p", description: "Connect to other nodes", fallback: isOn }),
    p2pPort: valueFlag({
      name: "p2p-port",
      kind: "number",
      placeholder: "PORT",
      description: "Peer-to-peer port, TCP and, for discovery, UDP; 0 for any free port",
      fallback: 9000,
      parse: wholeNumber(0, 65535),
    }),
    p2pAddress: valueFlag({
      name: "p2p-address",
      kind: "text",
      placeholder: "IP",
      description: "Peer-to-peer listen address",
      fallback: address,
      parse: ipAddress,
    }),
    targetPeers: valueFlag({
      name: "target-peers",
      kind: "number",
      placeholder: "COUNT",
      description: "Target number of connected peers",
      fallback: 50,
      parse: wholeNumber(0, 1000),
    }),
    discovery: booleanFlag({
      name: "discovery",
      description: "Discover peers (discv5); otherwise connect to the given peers only",
      fallback: true,
    }),
    bootnodes: listFlag({
      name: "bootnodes",
      placeholder: "ENR|FILE",
      description: "Bootnode, or a file with one per line or a YAML list; repeatable",
      parse: bootnode,
    }),
    peers: listFlag({
      name: "peer",
      placeholder: "MULTIADDR",
      description: "Peer to stay connected to, such as /ip4/192.0.2.1/tcp/9000/p2p/16Uiu2H…; repeatable",
      parse: peerAddress,
    }),
    supernode: booleanFlag({
      name: "supernode",
      description:
        "Custody and serve all data columns from fulu on, not only those required by the validators' balance; " +
        "once on, it stays on for the data directory",
      fallback: isSupernode,
    }),
  };
}

export type NetworkValues = FlagValues<ReturnType<typeof networkFlags>>;

/** Converts flags to settings. Returns undefined for --no-p2p. */
export function networkSettings(values: NetworkValues, bootnodes: readonly string[]): NetworkSettings | undefined {
  if (!values.p2p) return undefined;
  const { p2pAddress: address, p2pPort: port, discovery, peers, targetPeers, supernode } = values;
  return { address, port, discovery, bootnodes, directPeers: [...new Set(peers)], targetPeers, supernode };
}
