import { defineMethod, required } from "../../definition.ts";
import { bytes } from "../../params/eth.ts";
import { quantity } from "../../params/quantities.ts";
import { boolean, described, dictionary, either, list, nothing, number, object, shape, text } from "../../schemas.ts";
import { ETH_READ, ETH_STATE_READ, ethOf } from "./eth-of.ts";

const FORK_CONFIG = object({
  activationTime: described(number, "Unix seconds; 0 for a fork at genesis."),
  blobSchedule: either(object({ target: number, max: number, baseFeeUpdateFraction: number }), nothing),
  chainId: shape("Quantity"),
  forkId: shape("Bytes"),
  precompiles: dictionary(shape("Address")),
  systemContracts: dictionary(shape("Address")),
});

const chainId = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_chainId",
  summary: "Returns the chain id that transactions are signed for.",
  result: { name: "chainId", schema: shape("Quantity") },
  example: {},
  handler: (context) => ethOf(context).call("chainId", {}),
});

const netVersion = defineMethod({
  ...ETH_READ,
  name: "net_version",
  summary: "Returns the chain id as a decimal string.",
  result: { name: "version", schema: text },
  example: {},
  handler: async (context) => String(BigInt((await ethOf(context).call("chainId", {})) as string)),
});

const netListening = defineMethod({
  ...ETH_READ,
  name: "net_listening",
  summary: "Returns true: the node accepts connections.",
  result: { name: "listening", schema: boolean },
  example: {},
  handler: (context) => ethOf(context) !== undefined,
});

const netPeerCount = defineMethod({
  ...ETH_READ,
  name: "net_peerCount",
  summary: "Returns the number of connected peers.",
  result: { name: "count", schema: shape("Quantity") },
  example: {},
  handler: (context) => ethOf(context) && quantity(context.network.peerCounts().connected),
});

const config = defineMethod({
  ...ETH_READ,
  name: "eth_config",
  summary: "Returns the rules of the present, the next and the last fork (EIP-7910).",
  result: {
    name: "config",
    schema: object({ current: FORK_CONFIG, next: either(FORK_CONFIG, nothing), last: either(FORK_CONFIG, nothing) }),
  },
  example: {},
  handler: (context) => ethOf(context).call("config", {}),
});

const clientVersion = defineMethod({
  ...ETH_READ,
  name: "web3_clientVersion",
  summary:
    "Returns name, version and platform of the node, with the prefix `anvil/` that Hardhat expects of a dev chain.",
  result: { name: "version", schema: text },
  example: {},
  // Hardhat's network helpers only work if the version starts with "hardhat", "anvil" or "zksync".
  handler: (context) => ethOf(context) && `anvil/${context.version}`,
});

const sha3 = defineMethod({
  ...ETH_READ,
  name: "web3_sha3",
  summary: "Returns the Keccak-256 hash of bytes.",
  params: { bytes: required(bytes, "Bytes to hash.") },
  result: { name: "hash", schema: shape("Root") },
  example: { params: ["0x68656c6c6f"] },
  handler: (context, args) => ethOf(context).call("sha3", args),
});

const syncing = defineMethod({
  ...ETH_READ,
  name: "eth_syncing",
  summary: "Returns false: blocks are executed as soon as they arrive.",
  result: { name: "syncing", schema: described(boolean, "Always false.") },
  example: {},
  handler: (context) => ethOf(context) === undefined,
});

const blockNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_blockNumber",
  summary: "Returns the number of the latest block.",
  result: { name: "blockNumber", schema: shape("Quantity") },
  example: {},
  handler: (context) => ethOf(context).call("blockNumber", {}),
});

const coinbase = defineMethod({
  ...ETH_READ,
  name: "eth_coinbase",
  summary: "Returns the fee recipient of the latest block.",
  result: { name: "address", schema: shape("Address") },
  example: {},
  handler: (context) => ethOf(context).call("coinbase", {}),
});

const accounts = defineMethod({
  ...ETH_READ,
  name: "eth_accounts",
  aliases: ["eth_requestAccounts"],
  summary: "Returns the funded accounts, which the node can sign for.",
  result: { name: "accounts", schema: list(shape("Address")) },
  example: {},
  handler: (context) => ethOf(context).call("accounts", {}),
});

export const ethChainMethods = [
  chainId,
  blockNumber,
  syncing,
  accounts,
  coinbase,
  netVersion,
  netListening,
  netPeerCount,
  config,
  clientVersion,
  sha3,
] as const;
