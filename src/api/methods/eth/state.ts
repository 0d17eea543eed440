import { defineMethod } from "../../definition.ts";
import { shape } from "../../schemas.ts";
import { ADDRESS, ETH_READ, ethOf, STATE_BLOCK } from "./eth-of.ts";

const FUNDED = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

const getBalance = defineMethod({
  ...ETH_READ,
  name: "eth_getBalance",
  summary: "Returns the balance of an account, in wei.",
  params: { address: ADDRESS, block: STATE_BLOCK },
  result: { name: "balance", schema: shape("Quantity") },
  example: { params: [FUNDED, "latest"] },
  handler: (context, args) => ethOf(context).call("getBalance", args),
});

export const ethStateMethods = [getBalance] as const;
