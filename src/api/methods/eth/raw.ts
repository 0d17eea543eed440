import { defineMethod, required } from "../../definition.ts";
import { ethBlockId } from "../../params/eth.ts";
import { either, list, nothing, shape } from "../../schemas.ts";
import { ETH_READ, ethOf, TRANSACTION_HASH } from "./eth-of.ts";

const BLOCK = required(ethBlockId, "Block number, tag or hash.");
const RLP = { name: "rlp", schema: shape("Bytes") };

const getRawHeader = defineMethod({
  ...ETH_READ,
  name: "debug_getRawHeader",
  summary: "Returns the header of a block in RLP.",
  params: { block: BLOCK },
  result: RLP,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getRawHeader", args),
});

const getRawBlock = defineMethod({
  ...ETH_READ,
  name: "debug_getRawBlock",
  summary: "Returns a block in RLP.",
  params: { block: BLOCK },
  result: RLP,
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getRawBlock", args),
});

const getRawBlockAccessList = defineMethod({
  ...ETH_READ,
  name: "debug_getRawBlockAccessList",
  summary: "Returns the access list of a block in RLP (EIP-7928); null for a block before Amsterdam.",
  params: { block: BLOCK },
  result: { name: "rlp", schema: either(shape("Bytes"), nothing) },
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getRawBlockAccessList", args),
});

const getRawReceipts = defineMethod({
  ...ETH_READ,
  name: "debug_getRawReceipts",
  summary: "Returns the receipts of a block in their binary encoding (EIP-2718).",
  params: { block: BLOCK },
  result: { name: "receipts", schema: list(shape("Bytes")) },
  example: { params: ["latest"] },
  handler: (context, args) => ethOf(context).call("getRawReceipts", args),
});

const getRawTransaction = defineMethod({
  ...ETH_READ,
  name: "debug_getRawTransaction",
  aliases: ["eth_getRawTransactionByHash"],
  summary: "Returns a transaction of the chain or the pool in its binary encoding (EIP-2718); null if there is none.",
  params: { hash: TRANSACTION_HASH },
  result: { name: "transaction", schema: either(shape("Bytes"), nothing) },
  example: { params: (chain) => [chain.transactionHash] },
  handler: (context, args) => ethOf(context).call("getRawTransaction", args),
});

export const ethRawMethods = [
  getRawHeader,
  getRawBlock,
  getRawBlockAccessList,
  getRawReceipts,
  getRawTransaction,
] as const;
