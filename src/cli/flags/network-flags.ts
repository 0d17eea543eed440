import { booleanFlag, listFlag, valueFlag } from "./flag.ts";
import { wholeNumber } from "./flag-values.ts";
import { bootnode, ipAddress, peerAddress } from "./peer-values.ts";

interface NetworkDefaults {
  isOn: boolean;
  address: string;
  isSupernode: boolean;
}

/** The flags by which a node takes part in a network of nodes. */
export function networkFlags({ isOn, address, isSupernode }: NetworkDefaults) {
  return {
    p2p: booleanFlag({ name: "p2p", description: "Connect to other nodes", fallback: isOn }),
    p2pPort: valueFlag({
      name: "p2p-port",
      kind: "number",
      placeholder: "PORT",
      description: "Port for other nodes, of TCP and, for discovery, of UDP; 0 takes any free one",
      fallback: 9000,
      parse: wholeNumber(0, 65535),
    }),
    p2pAddress: valueFlag({
      name: "p2p-address",
      kind: "text",
      placeholder: "IP",
      description: "Address the node listens on for other nodes",
      fallback: address,
      parse: ipAddress,
    }),
    targetPeers: valueFlag({
      name: "target-peers",
      kind: "number",
      placeholder: "COUNT",
      description: "How many peers the node wants to be connected to",
      fallback: 50,
      parse: wholeNumber(0, 1000),
    }),
    discovery: booleanFlag({
      name: "discovery",
      description: "Look for other nodes by discovery (discv5) instead of connecting to the given peers alone",
      fallback: true,
    }),
    bootnodes: listFlag({
      name: "bootnodes",
      placeholder: "ENR|FILE",
      description: "Node that discovery starts from, or a file with one a line or a YAML list of them; repeatable",
      parse: bootnode,
    }),
    peers: listFlag({
      name: "peer",
      placeholder: "MULTIADDR",
      description: "Node to stay connected to, such as /ip4/192.0.2.1/tcp/9000/p2p/16Uiu2H…; repeatable",
      parse: peerAddress,
    }),
    supernode: booleanFlag({
      name: "supernode",
      description:
        "Keep and serve all columns of blobs from fulu on, not only the share that the balance of the node's validators asks for; a node that once did goes on with it",
      fallback: isSupernode,
    }),
  };
}
