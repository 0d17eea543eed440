import { usageError } from "../../exit.ts";
import { type FlagTable, type FlagValues, valueFlag } from "../flag.ts";
import { address, wholeNumber } from "../flag-values.ts";
import type { ETH_RPC_FLAGS } from "./eth-rpc-flags.ts";
import type { ServerValues } from "./server-flags.ts";
import { requireDistinctPorts } from "./server-ports.ts";
import { accessSettings, type ServerSettings } from "./server-settings.ts";

const DEFAULT_ADDRESS = "127.0.0.1";

/** Flags for a dev chain's signer. Hosts, origins, classes and the token are shared with `--rest`. */
export const SIGNER_FLAGS = {
  signerPort: valueFlag({
    name: "signer-port",
    kind: "number",
    placeholder: "PORT",
    description:
      "Serve the Web3Signer API over the validator keys at this port, for a validator client; 0 for any free port",
    fallback: undefined,
    fallbackText: "off",
    parse: wholeNumber(0, 65535),
  }),
  signerAddress: valueFlag({
    name: "signer-address",
    kind: "text",
    placeholder: "ADDRESS",
    description: "Address the signer listens on; access is limited by the flags of --rest, such as --rest-token-file",
    fallback: undefined,
    fallbackText: DEFAULT_ADDRESS,
    parse: address,
  }),
} as const satisfies FlagTable;

/** Returns the signer settings, or undefined if the signer is off. */
export function signerSettings(
  values: FlagValues<typeof SIGNER_FLAGS> & FlagValues<typeof ETH_RPC_FLAGS> & ServerValues,
  workingDirectory: string,
): ServerSettings["signer"] {
  const { signerPort: port, signerAddress } = values;
  if (port === undefined) {
    if (signerAddress === undefined) return undefined;
    throw usageError("--signer-address requires --signer-port: the signer is off by default.");
  }
  const host = signerAddress ?? DEFAULT_ADDRESS;
  const { rpc, rpcAddress, rpcPort, rest, restAddress, restPort, metrics, metricsAddress, metricsPort } = values;
  const { ethRpc, ethRpcAddress = DEFAULT_ADDRESS, ethRpcPort = 0 } = values;
  requireDistinctPorts([
    { flagPrefix: "signer", isOn: true, address: host, port },
    { flagPrefix: "rpc", isOn: rpc, address: rpcAddress, port: rpcPort },
    { flagPrefix: "eth-rpc", isOn: ethRpc, address: ethRpcAddress, port: ethRpcPort },
    { flagPrefix: "rest", isOn: rest, address: restAddress, port: restPort },
    { flagPrefix: "metrics", isOn: metrics, address: metricsAddress, port: metricsPort },
  ]);
  const access = accessSettings({ flagPrefix: "signer", server: "rest", host }, values, workingDirectory);
  return { host, port, access };
}
