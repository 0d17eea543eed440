import { defineMethod, required } from "../../definition.ts";
import { bytes } from "../../params/eth.ts";
import { dictionary, either, nothing, object, shape, text } from "../../schemas.ts";
import {
  BLOCK_HASH,
  BLOCK_NUMBER,
  ETH_READ,
  ETH_SUBMISSION,
  ethOf,
  TRANSACTION_HASH,
  TRANSACTION_INDEX,
} from "./eth-of.ts";

const TRANSACTION = { name: "transaction", schema: either(shape("EthTransaction"), nothing) };

const getTransactionByHash = defineMethod({
  ...ETH_READ,
  name: "eth_getTransactionByHash",
  summary: "Returns a transaction of the chain or the pool; null if there is none.",
  params: { hash: TRANSACTION_HASH },
  result: TRANSACTION,
  example: { params: (chain) => [chain.transactionHash] },
  handler: (context, args) => ethOf(context).call("getTransaction", args),
});

const getTransactionByBlockHashAndIndex = defineMethod({
  ...ETH_READ,
  name: "eth_getTransactionByBlockHashAndIndex",
  summary: "Returns a transaction by its position in the block with a hash; null if there is none.",
  params: { hash: BLOCK_HASH, index: TRANSACTION_INDEX },
  result: TRANSACTION,
  example: { params: (chain) => [chain.executionHash, "0x0"] },
  handler: (context, { hash, index }) => ethOf(context).call("getTransactionOfBlock", { block: { hash }, index }),
});

const getTransactionByBlockNumberAndIndex = defineMethod({
  ...ETH_READ,
  name: "eth_getTransactionByBlockNumberAndIndex",
  summary: "Returns a transaction by its position in the block with a number or tag; null if there is none.",
  params: { block: BLOCK_NUMBER, index: TRANSACTION_INDEX },
  result: TRANSACTION,
  example: { params: ["latest", "0x0"] },
  handler: (context, args) => ethOf(context).call("getTransactionOfBlock", args),
});

const getTransactionReceipt = defineMethod({
  ...ETH_READ,
  name: "eth_getTransactionReceipt",
  summary: "Returns the receipt of a transaction of the chain; null if no block includes it.",
  params: { hash: TRANSACTION_HASH },
  result: { name: "receipt", schema: either(shape("EthReceipt"), nothing) },
  example: { params: (chain) => [chain.transactionHash] },
  handler: (context, args) => ethOf(context).call("getReceipt", args),
});

const sendRawTransaction = defineMethod({
  ...ETH_SUBMISSION,
  name: "eth_sendRawTransaction",
  summary: "Adds a signed transaction to the pool and returns its hash.",
  params: { raw: required(bytes, "Signed transaction; with blobs in its network form.") },
  result: { name: "hash", schema: shape("Root") },
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.rawTransaction()] },
  handler: (context, args) => ethOf(context).call("sendRawTransaction", args),
});

const bySender = (value: typeof text) =>
  object({ pending: dictionary(dictionary(value)), queued: dictionary(dictionary(value)) });

const poolStatus = defineMethod({
  ...ETH_READ,
  name: "txpool_status",
  summary: "Returns how many transactions are pending, and how many are queued after a nonce gap.",
  result: { name: "status", schema: object({ pending: shape("Quantity"), queued: shape("Quantity") }) },
  example: {},
  handler: (context) => ethOf(context).call("poolStatus", {}),
});

const poolContent = defineMethod({
  ...ETH_READ,
  name: "txpool_content",
  summary: "Returns all pooled transactions by sender and nonce.",
  result: { name: "content", schema: bySender(shape("EthTransaction")) },
  example: {},
  handler: (context) => ethOf(context).call("poolContent", {}),
});

const poolInspect = defineMethod({
  ...ETH_READ,
  name: "txpool_inspect",
  summary: "Returns a line of text for each pooled transaction, by sender and nonce.",
  result: { name: "content", schema: bySender(text) },
  example: {},
  handler: (context) => ethOf(context).call("poolInspect", {}),
});

export const ethTransactionMethods = [
  getTransactionByHash,
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionReceipt,
  sendRawTransaction,
  poolStatus,
  poolContent,
  poolInspect,
] as const;
