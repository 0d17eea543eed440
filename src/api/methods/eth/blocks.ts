import { defineMethod, optional } from "../../definition.ts";
import { boolean } from "../../params/scalars.ts";
import { either, nothing, shape } from "../../schemas.ts";
import { BLOCK_HASH, BLOCK_NUMBER, ETH_READ, ethOf } from "./eth-of.ts";

const FULL = optional(boolean, "True for whole transactions, false for their hashes. Default: false.");
const BLOCK = { name: "block", schema: either(shape("EthBlock"), nothing) };

const getBlockByNumber = defineMethod({
  ...ETH_READ,
  name: "eth_getBlockByNumber",
  summary: "Returns the block with a number or tag; null if there is none.",
  params: { block: BLOCK_NUMBER, full: FULL },
  result: BLOCK,
  example: { params: ["latest", true] },
  handler: (context, args) => ethOf(context).call("getBlock", args),
});

const getBlockByHash = defineMethod({
  ...ETH_READ,
  name: "eth_getBlockByHash",
  summary: "Returns the block with a hash; null if there is none.",
  params: { hash: BLOCK_HASH, full: FULL },
  result: BLOCK,
  example: { params: (chain) => [chain.executionHash, false] },
  handler: (context, { hash, full }) => ethOf(context).call("getBlock", { block: { hash }, full }),
});

export const ethBlockMethods = [getBlockByNumber, getBlockByHash] as const;
