import type { ApiContext } from "../../context.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { ethBlockId, quantity64 } from "../../params/eth.ts";
import { boolean } from "../../params/scalars.ts";
import { either, list, nothing, shape } from "../../schemas.ts";
import { BLOCK_HASH, BLOCK_NUMBER, ETH_STATE_READ, ethOf } from "./eth-of.ts";

const FULL = optional(boolean, "True for whole transactions, false for their hashes. Default: false.");
const BLOCK = { name: "block", schema: either(shape("EthBlock"), nothing) };
const UNCLE_INDEX = required(quantity64, "Position of the uncle.");
const UNCLE = { name: "uncle", schema: nothing };
const COUNT = { name: "count", schema: either(shape("Quantity"), nothing) };

const getBlockByNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockByNumber",
  summary: "Returns the block with a number or tag; null if there is none.",
  params: { block: BLOCK_NUMBER, full: FULL },
  result: BLOCK,
  example: { params: ["latest", true] },
  handler: (context, args) => ethOf(context).call("getBlock", args),
});

const getBlockByHash = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockByHash",
  summary: "Returns the block with a hash; null if there is none.",
  params: { hash: BLOCK_HASH, full: FULL },
  result: BLOCK,
  example: { params: (chain) => [chain.executionHash, false] },
  handler: (context, { hash, full }) => ethOf(context).call("getBlock", { block: { hash }, full }),
});

const getTransactionCountByNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockTransactionCountByNumber",
  summary: "Returns the number of transactions in the block with a number or tag; null if there is none.",
  params: { block: BLOCK_NUMBER },
  result: COUNT,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getTransactionCountOfBlock", args),
});

const getTransactionCountByHash = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockTransactionCountByHash",
  summary: "Returns the number of transactions in the block with a hash; null if there is none.",
  params: { hash: BLOCK_HASH },
  result: COUNT,
  example: { params: (chain) => [chain.executionHash] },
  handler: (context, { hash }) => ethOf(context).call("getTransactionCountOfBlock", { block: { hash } }),
});

const getUncleCountByNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getUncleCountByBlockNumber",
  summary: "Returns 0x0, since blocks have no uncles; null if there is no block with the number or tag.",
  params: { block: BLOCK_NUMBER },
  result: COUNT,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getUncleCountOfBlock", args),
});

const getUncleCountByHash = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getUncleCountByBlockHash",
  summary: "Returns 0x0, since blocks have no uncles; null if there is no block with the hash.",
  params: { hash: BLOCK_HASH },
  result: COUNT,
  example: { params: (chain) => [chain.executionHash] },
  handler: (context, { hash }) => ethOf(context).call("getUncleCountOfBlock", { block: { hash } }),
});

const getUncleByNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getUncleByBlockNumberAndIndex",
  summary: "Returns null: blocks have no uncles.",
  params: { block: BLOCK_NUMBER, index: UNCLE_INDEX },
  result: UNCLE,
  example: { params: ["latest", "0x0"] },
  handler: noUncle,
});

const getUncleByHash = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getUncleByBlockHashAndIndex",
  summary: "Returns null: blocks have no uncles.",
  params: { hash: BLOCK_HASH, index: UNCLE_INDEX },
  result: UNCLE,
  example: { params: (chain) => [chain.executionHash, "0x0"] },
  handler: noUncle,
});

function noUncle(context: ApiContext): null {
  ethOf(context);
  return null;
}

const getBlockReceipts = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockReceipts",
  summary: "Returns the receipts of all transactions of a block; null if there is none.",
  params: { block: required(ethBlockId, "Block number, tag or hash.") },
  result: { name: "receipts", schema: either(list(shape("EthReceipt")), nothing) },
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getBlockReceipts", args),
});

const ACCESS_LIST = { name: "blockAccessList", schema: either(list(shape("EthAccountAccess")), nothing) };
const ACCESS_LIST_SUMMARY =
  "Returns what a block accessed and changed, by account (EIP-7928); null if there is no block, or if it precedes Amsterdam.";

const getBlockAccessList = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockAccessList",
  summary: ACCESS_LIST_SUMMARY,
  params: { block: required(ethBlockId, "Block number, tag or hash.") },
  result: ACCESS_LIST,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getBlockAccessList", args),
});

const getBlockAccessListByNumber = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockAccessListByBlockNumber",
  summary: ACCESS_LIST_SUMMARY,
  params: { block: BLOCK_NUMBER },
  result: ACCESS_LIST,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getBlockAccessList", args),
});

const getBlockAccessListByHash = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBlockAccessListByBlockHash",
  summary: ACCESS_LIST_SUMMARY,
  params: { hash: BLOCK_HASH },
  result: ACCESS_LIST,
  example: { params: (chain) => [chain.executionHash] },
  handler: (context, { hash }) => ethOf(context).call("getBlockAccessList", { block: { hash } }),
});

export const ethBlockMethods = [
  getBlockByNumber,
  getBlockByHash,
  getTransactionCountByNumber,
  getTransactionCountByHash,
  getUncleCountByNumber,
  getUncleCountByHash,
  getUncleByNumber,
  getUncleByHash,
  getBlockReceipts,
  getBlockAccessList,
  getBlockAccessListByNumber,
  getBlockAccessListByHash,
] as const;
