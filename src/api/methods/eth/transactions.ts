import { defineMethod, optional, required } from "../../definition.ts";
import { bytes } from "../../params/eth.ts";
import { quantityUpTo } from "../../params/quantities.ts";
import { dictionary, either, nothing, object, shape, text } from "../../schemas.ts";
import {
  ADDRESS,
  BLOCK_HASH,
  BLOCK_NUMBER,
  ETH_READ,
  ETH_SUBMISSION,
  ethOf,
  FUNDED,
  TRANSACTION_HASH,
  TRANSACTION_INDEX,
} from "./eth-of.ts";
import { untilIncluded } from "./until-included.ts";

const milliseconds = quantityUpTo(Number.MAX_SAFE_INTEGER, "a number of milliseconds");
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
  summary:
    "Returns the receipt of a transaction of the chain; null if no block includes it. Fails with the reason if the " +
    "transaction was dropped because no block can include it.",
  params: { hash: TRANSACTION_HASH },
  result: { name: "receipt", schema: either(shape("EthReceipt"), nothing) },
  example: { params: (chain) => [chain.transactionHash] },
  handler: (context, args) => ethOf(context).call("getReceipt", args),
});

const sendRawTransaction = defineMethod({
  ...ETH_SUBMISSION,
  name: "eth_sendRawTransaction",
  summary: "Adds a signed transaction to the pool and returns its hash.",
  params: { raw: required(bytes, "Signed transaction; with blobs in network encoding.") },
  result: { name: "hash", schema: shape("Root") },
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.rawTransaction()] },
  handler: (context, args) => ethOf(context).call("sendRawTransaction", args),
});

const sendRawTransactionSync = defineMethod({
  ...ETH_SUBMISSION,
  name: "eth_sendRawTransactionSync",
  summary:
    "Adds a signed transaction to the pool, waits until a block includes it, and returns its receipt (EIP-7966).",
  params: {
    raw: required(bytes, "Signed transaction; with blobs in network encoding."),
    timeout: optional(milliseconds, "Milliseconds to wait. Default: 20000, at most 60000."),
  },
  result: { name: "receipt", schema: shape("EthReceipt") },
  takesLargeBody: true,
  example: { stage: "control", params: async (chain) => [await chain.rawTransactionForNextSlot()] },
  handler: async (context, { raw, timeout }, call) => {
    const eth = ethOf(context);
    const hash = (await eth.call("sendRawTransaction", { raw })) as string;
    return untilIncluded(eth, hash, { timeoutMs: timeout, signal: call?.signal });
  },
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

const poolContentFrom = defineMethod({
  ...ETH_READ,
  name: "txpool_contentFrom",
  summary: "Returns the pooled transactions of a sender by nonce.",
  params: { address: ADDRESS },
  result: {
    name: "content",
    schema: object({ pending: dictionary(shape("EthTransaction")), queued: dictionary(shape("EthTransaction")) }),
  },
  example: { params: [FUNDED] },
  handler: (context, args) => ethOf(context).call("poolContentFrom", args),
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
  sendRawTransactionSync,
  poolStatus,
  poolContent,
  poolContentFrom,
  poolInspect,
] as const;
