import { usageError } from "../../exit.ts";
import { booleanFlag, type FlagTable, type FlagValues, valueFlag } from "../flag.ts";
import { address, wholeNumber } from "../flag-values.ts";
import type { ServerValues } from "./server-flags.ts";
import { requireDistinctPorts } from "./server-ports.ts";
import { accessSettings, type ServerSettings } from "./server-settings.ts";

/** Port used for Ethereum's JSON-RPC by geth, Anvil and Hardhat. */
const DEFAULT_PORT = 8545;
const DEFAULT_ADDRESS = "127.0.0.1";

/** Flags for the Ethereum JSON-RPC server. Hosts, origins, classes and the token are shared with `--rpc`. */
export const ETH_RPC_FLAGS = {
  ethRpc: booleanFlag({
    name: "eth-rpc",
    description: "Serve eth_* and other methods of execution clients, for a chain with the EVM",
    fallback: true,
  }),
  ethRpcPort: valueFlag({
    name: "eth-rpc-port",
    kind: "number",
    placeholder: "PORT",
    description: "Port of Ethereum's JSON-RPC, for HTTP and WebSocket; 0 for any free port",
    fallback: undefined,
    fallbackText: `${DEFAULT_PORT}, or the next free port`,
    parse: wholeNumber(0, 65535),
  }),
  ethRpcAddress: valueFlag({
    name: "eth-rpc-address",
    kind: "text",
    placeholder: "ADDRESS",
    description:
      "Address Ethereum's JSON-RPC listens on; access is limited by the flags of --rpc, such as --rpc-token-file",
    fallback: undefined,
    fallbackText: DEFAULT_ADDRESS,
    parse: address,
  }),
} as const satisfies FlagTable;

/** Returns the server settings, or undefined if the server is off or the chain has no EVM. */
export function ethRpcSettings(
  values: FlagValues<typeof ETH_RPC_FLAGS> & ServerValues,
  { hasEvm }: { hasEvm: boolean },
  workingDirectory: string,
): ServerSettings["ethRpc"] {
  const { ethRpc, ethRpcPort, ethRpcAddress } = values;
  if (!ethRpc) return undefined;
  if (!hasEvm) {
    if (ethRpcPort === undefined && ethRpcAddress === undefined) return undefined;
    const flag = ethRpcPort === undefined ? "--eth-rpc-address" : "--eth-rpc-port";
    throw usageError(`${flag} requires the EVM: without it, a dev chain has no eth_* methods.`);
  }
  const host = ethRpcAddress ?? DEFAULT_ADDRESS;
  const { rpc, rpcAddress, rpcPort, rest, restAddress, restPort, metrics, metricsAddress, metricsPort } = values;
  requireDistinctPorts([
    { flagPrefix: "eth-rpc", isOn: ethRpcPort !== undefined, address: host, port: ethRpcPort ?? 0 },
    { flagPrefix: "rpc", isOn: rpc, address: rpcAddress, port: rpcPort },
    { flagPrefix: "rest", isOn: rest, address: restAddress, port: restPort },
    { flagPrefix: "metrics", isOn: metrics, address: metricsAddress, port: metricsPort },
  ]);
  return {
    host,
    port: ethRpcPort ?? DEFAULT_PORT,
    triesNextPorts: ethRpcPort === undefined,
    access: accessSettings({ flagPrefix: "eth-rpc", server: "rpc", host }, values, workingDirectory),
  };
}
