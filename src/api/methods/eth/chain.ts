import { defineMethod } from "../../definition.ts";
import { shape } from "../../schemas.ts";
import { ETH_READ, ethOf } from "./eth-of.ts";

const chainId = defineMethod({
  ...ETH_READ,
  name: "eth_chainId",
  summary: "Returns the chain id that transactions are signed for.",
  result: { name: "chainId", schema: shape("Quantity") },
  example: {},
  handler: (context) => ethOf(context).call("chainId", {}),
});

const blockNumber = defineMethod({
  ...ETH_READ,
  name: "eth_blockNumber",
  summary: "Returns the number of the latest block.",
  result: { name: "blockNumber", schema: shape("Quantity") },
  example: {},
  handler: (context) => ethOf(context).call("blockNumber", {}),
});

export const ethChainMethods = [chainId, blockNumber] as const;
