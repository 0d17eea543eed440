import { defineMethod, required } from "../../definition.ts";
import { storageSlot, storageSlots } from "../../params/eth.ts";
import { list, object, shape } from "../../schemas.ts";
import { ADDRESS, ETH_STATE_READ, ethOf, FUNDED, STATE_BLOCK } from "./eth-of.ts";

/** The beacon roots contract (EIP-4788). */
const BEACON_ROOTS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";

export const getBalance = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getBalance",
  summary: "Returns the balance of an account, in wei.",
  params: { address: ADDRESS, block: STATE_BLOCK },
  result: { name: "balance", schema: shape("Quantity") },
  example: { params: [FUNDED, "latest"] },
  handler: (context, args) => ethOf(context).call("getBalance", args),
});

export const getCode = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getCode",
  summary: "Returns the code of a contract, or the delegation of an account (EIP-7702).",
  params: { address: ADDRESS, block: STATE_BLOCK },
  result: { name: "code", schema: shape("Bytes") },
  example: { params: [BEACON_ROOTS, "latest"] },
  handler: (context, args) => ethOf(context).call("getCode", args),
});

export const getStorageAt = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getStorageAt",
  summary: "Returns the value of a storage slot, as 32 bytes.",
  params: { address: ADDRESS, slot: required(storageSlot, "Storage slot."), block: STATE_BLOCK },
  result: { name: "value", schema: shape("Bytes") },
  example: { params: [BEACON_ROOTS, "0x0", "latest"] },
  handler: (context, args) => ethOf(context).call("getStorageAt", args),
});

const getTransactionCount = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getTransactionCount",
  summary: "Returns the nonce of an account; for the pending block with its pooled transactions.",
  params: { address: ADDRESS, block: STATE_BLOCK },
  result: { name: "nonce", schema: shape("Quantity") },
  example: { params: [FUNDED, "pending"] },
  handler: (context, args) => ethOf(context).call("getTransactionCount", args),
});

const getProof = defineMethod({
  ...ETH_STATE_READ,
  name: "eth_getProof",
  summary: "Returns the Merkle proof of an account and of some of its storage slots (EIP-1186).",
  params: { address: ADDRESS, slots: required(storageSlots, "Storage slots."), block: STATE_BLOCK },
  result: {
    name: "proof",
    schema: object({
      address: shape("Address"),
      accountProof: list(shape("Bytes")),
      balance: shape("Quantity"),
      codeHash: shape("Root"),
      nonce: shape("Quantity"),
      storageHash: shape("Root"),
      storageProof: list(object({ key: { type: "string" }, value: shape("Quantity"), proof: list(shape("Bytes")) })),
    }),
  },
  example: { params: [FUNDED, ["0x0"], "latest"] },
  handler: (context, args) => ethOf(context).call("getProof", args),
});

export const ethStateMethods = [getBalance, getCode, getStorageAt, getTransactionCount, getProof] as const;
