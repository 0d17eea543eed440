import { fromHex } from "@lodestar/utils";
import { unsupported } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, required } from "../../definition.ts";
import { controlOf, type EvmControl } from "../../dev-control.ts";
import { bytes, ethAddress, hash32, quantity64, quantity256, storageSlot } from "../../params/eth.ts";
import { quantityUpTo } from "../../params/quantities.ts";
import { boolean } from "../../params/scalars.ts";
import { either, isTrue, nothing, shape } from "../../schemas.ts";
import { FUNDED } from "../eth/eth-of.ts";
import { DEV_METHOD } from "./dev-method.ts";

// State changes made outside of transactions are recorded with the next block, so that replays and branches include
// them.

const RECIPIENT = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const ADDRESS = required(ethAddress, "Address of the account.");
const MIN_GAS_LIMIT = 5000;
const CONTROL = { ...DEV_METHOD, result: { name: "done", schema: nothing }, needsEvm: true } as const;

function evmOf(context: ApiContext): EvmControl {
  const { evm } = controlOf(context);
  if (evm) return evm;
  throw unsupported(
    "This node has no EVM. Start a dev chain with `fanal dev --evm`; in the library, remove `evm: false`.",
  );
}

const setBalance = defineMethod({
  ...CONTROL,
  name: "anvil_setBalance",
  aliases: ["hardhat_setBalance", "evm_setAccountBalance"],
  summary: "Sets the balance of an account. Recorded with the next block. Rejected with --p2p.",
  params: {
    address: ADDRESS,
    balance: required(quantity256, "Balance in wei, up to 2^256-1. Credits beyond that are lost."),
  },
  example: { stage: "control", params: [RECIPIENT, "0xde0b6b3a7640000"] },
  handler: async (context, change) => {
    await evmOf(context).override(change);
    return null;
  },
});

const setCode = defineMethod({
  ...CONTROL,
  name: "anvil_setCode",
  aliases: ["hardhat_setCode", "evm_setAccountCode"],
  summary: "Sets the code of an account. Recorded with the next block. Rejected with --p2p.",
  params: { address: ADDRESS, code: required(bytes, "Bytecode as it is executed.") },
  takesLargeBody: true,
  example: { stage: "control", params: ["0x1000000000000000000000000000000000000001", "0x00"] },
  handler: async (context, change) => {
    await evmOf(context).override(change);
    return null;
  },
});

const setNonce = defineMethod({
  ...CONTROL,
  name: "anvil_setNonce",
  aliases: ["hardhat_setNonce", "evm_setAccountNonce"],
  summary: "Sets the nonce of an account. Recorded with the next block. Rejected with --p2p.",
  params: { address: ADDRESS, nonce: required(quantity64, "Nonce of its next transaction.") },
  example: { stage: "control", params: [RECIPIENT, "0x10"] },
  handler: async (context, change) => {
    await evmOf(context).override(change);
    return null;
  },
});

const setStorageAt = defineMethod({
  ...CONTROL,
  name: "anvil_setStorageAt",
  aliases: ["hardhat_setStorageAt", "evm_setAccountStorageAt"],
  summary: "Sets a storage slot of an account. Recorded with the next block. Rejected with --p2p.",
  params: {
    address: ADDRESS,
    slot: required(storageSlot, "Storage slot."),
    value: required(storageSlot, "Value of 32 bytes. Leading zeros may be omitted."),
  },
  result: { name: "done", schema: isTrue },
  example: { stage: "control", params: ["0x1000000000000000000000000000000000000001", "0x0", "0x1"] },
  handler: async (context, { address, slot, value }) => {
    await evmOf(context).override({ address, storage: [slot, value] });
    return true;
  },
});

const setNextBlockBaseFeePerGas = defineMethod({
  ...CONTROL,
  name: "anvil_setNextBlockBaseFeePerGas",
  aliases: ["hardhat_setNextBlockBaseFeePerGas"],
  summary:
    "Sets the base fee of the next block. Later base fees are derived from it. Recorded with that block. Rejected with --p2p.",
  params: { baseFeePerGas: required(quantity64, "Base fee in wei.", { name: "base_fee" }) },
  example: { stage: "control", params: ["0x3b9aca00"] },
  handler: async (context, change) => {
    await evmOf(context).override(change);
    return null;
  },
});

const setBlockGasLimit = defineMethod({
  ...CONTROL,
  name: "evm_setBlockGasLimit",
  aliases: ["anvil_setBlockGasLimit"],
  summary: "Sets the gas limit of the next block and later ones. Recorded with the next block. Rejected with --p2p.",
  params: {
    gasLimit: required(
      quantityUpTo(Number.MAX_SAFE_INTEGER, `a gas limit up to 2^53-1, raised to ${MIN_GAS_LIMIT}`),
      "Gas limit.",
      { name: "gas_limit" },
    ),
  },
  result: { name: "done", schema: isTrue },
  example: { stage: "control", params: ["0x3938700"] },
  handler: async (context, { gasLimit }) => {
    await evmOf(context).override({ gasLimit: BigInt(Math.max(gasLimit, MIN_GAS_LIMIT)) });
    return true;
  },
});

const setCoinbase = defineMethod({
  ...CONTROL,
  name: "anvil_setCoinbase",
  aliases: ["hardhat_setCoinbase"],
  summary: "Sets the fee recipient of later blocks. Stored with the chain.",
  params: { address: required(ethAddress, "Fee recipient.") },
  example: { stage: "control", params: [FUNDED] },
  handler: async (context, { address }) => {
    await evmOf(context).setFeeRecipient(address);
    return null;
  },
});

const impersonateAccount = defineMethod({
  ...CONTROL,
  name: "anvil_impersonateAccount",
  aliases: ["hardhat_impersonateAccount"],
  summary: "Allows eth_sendTransaction from an account without its key. Rejected with --p2p.",
  params: { address: ADDRESS },
  example: { stage: "control", params: ["0x1000000000000000000000000000000000000001"] },
  handler: async (context, { address }) => {
    await evmOf(context).setImpersonated(address, true);
    return null;
  },
});

const stopImpersonatingAccount = defineMethod({
  ...CONTROL,
  name: "anvil_stopImpersonatingAccount",
  aliases: ["hardhat_stopImpersonatingAccount"],
  summary: "Stops impersonating an account.",
  params: { address: ADDRESS },
  example: { stage: "control", params: ["0x1000000000000000000000000000000000000001"] },
  handler: async (context, { address }) => {
    await evmOf(context).setImpersonated(address, false);
    return null;
  },
});

const autoImpersonateAccount = defineMethod({
  ...CONTROL,
  name: "anvil_autoImpersonateAccount",
  summary:
    "Allows eth_sendTransaction from all accounts without their keys, or disallows it again. Rejected with --p2p.",
  params: { enabled: required(boolean, "True for all accounts.") },
  example: { stage: "control", params: [false] },
  handler: async (context, { enabled }) => {
    await evmOf(context).setImpersonatesAll(enabled);
    return null;
  },
});

const dropTransaction = defineMethod({
  ...CONTROL,
  name: "anvil_dropTransaction",
  aliases: ["hardhat_dropTransaction"],
  summary: "Removes a transaction from the pool. Returns its hash; null if the pool does not have it.",
  params: { hash: required(hash32, "Transaction hash.") },
  result: { name: "hash", schema: either(shape("Root"), nothing) },
  example: { stage: "control", params: [`0x${"11".repeat(32)}`] },
  handler: async (context, { hash }) => ((await evmOf(context).dropTransaction(fromHex(hash))) ? hash : null),
});

const dropAllTransactions = defineMethod({
  ...CONTROL,
  name: "anvil_dropAllTransactions",
  summary: "Removes all transactions from the pool.",
  example: { stage: "control" },
  handler: async (context) => {
    await evmOf(context).dropTransactions();
    return null;
  },
});

const removePoolTransactions = defineMethod({
  ...CONTROL,
  name: "anvil_removePoolTransactions",
  summary: "Removes the transactions of a sender from the pool.",
  params: { address: required(ethAddress, "Sender.") },
  example: { stage: "control", params: [RECIPIENT] },
  handler: async (context, { address }) => {
    await evmOf(context).dropTransactions(address);
    return null;
  },
});

export const evmControlMethods = [
  setBalance,
  setCode,
  setNonce,
  setStorageAt,
  setNextBlockBaseFeePerGas,
  setBlockGasLimit,
  setCoinbase,
  impersonateAccount,
  stopImpersonatingAccount,
  autoImpersonateAccount,
  dropTransaction,
  dropAllTransactions,
  removePoolTransactions,
] as const;
