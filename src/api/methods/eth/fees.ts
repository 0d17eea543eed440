import { defineMethod, optional, required } from "../../definition.ts";
import { percentiles } from "../../params/eth.ts";
import { quantityUpTo } from "../../params/quantities.ts";
import { list, number, object, shape } from "../../schemas.ts";
import { BLOCK_NUMBER, ETH_READ, ethOf } from "./eth-of.ts";

const PRICE = { name: "price", schema: shape("Quantity") };
const blockCount = quantityUpTo(Number.MAX_SAFE_INTEGER, "a number of blocks from 0 to 2^53-1");

const gasPrice = defineMethod({
  ...ETH_READ,
  name: "eth_gasPrice",
  summary: "Returns a gas price for legacy transactions: the next base fee and a tip.",
  result: PRICE,
  example: {},
  handler: (context) => ethOf(context).call("gasPrice", {}),
});

const maxPriorityFeePerGas = defineMethod({
  ...ETH_READ,
  name: "eth_maxPriorityFeePerGas",
  summary: "Returns a tip per gas that is enough for the next block.",
  result: PRICE,
  example: {},
  handler: (context) => ethOf(context).call("maxPriorityFeePerGas", {}),
});

const blobBaseFee = defineMethod({
  ...ETH_READ,
  name: "eth_blobBaseFee",
  summary: "Returns the blob base fee of the next block.",
  result: PRICE,
  example: {},
  handler: (context) => ethOf(context).call("blobBaseFee", {}),
});

const feeHistory = defineMethod({
  ...ETH_READ,
  name: "eth_feeHistory",
  summary: "Returns base fees, gas usage and tips of consecutive blocks, at most 1,024.",
  params: {
    count: required(blockCount, "Number of blocks.", { name: "block_count" }),
    newest: { ...BLOCK_NUMBER, name: "newest_block" },
    percentiles: optional(percentiles, "Percentiles of the tips to return.", { name: "reward_percentiles" }),
  },
  result: {
    name: "history",
    schema: object(
      {
        oldestBlock: shape("Quantity"),
        baseFeePerGas: list(shape("Quantity")),
        gasUsedRatio: list(number),
        baseFeePerBlobGas: list(shape("Quantity")),
        blobGasUsedRatio: list(number),
      },
      { reward: list(list(shape("Quantity"))) },
    ),
  },
  example: { params: ["0x2", "latest", [25, 75]] },
  handler: (context, args) => ethOf(context).call("feeHistory", args),
});

export const ethFeeMethods = [gasPrice, maxPriorityFeePerGas, blobBaseFee, feeHistory] as const;
