import { defineMethod, optional, required } from "../../definition.ts";
import { blockOverrides, simulation, stateOverrides } from "../../params/eth-call.ts";
import { callRequest } from "../../params/eth-transaction.ts";
import { list, object, shape } from "../../schemas.ts";
import { ETH_STATE_READ, ethOf, STATE_BLOCK, STATE_BLOCK_OR_PENDING } from "./eth-of.ts";

const FUNDED = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const RECIPIENT = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const TRANSFER = { from: FUNDED, to: RECIPIENT, value: "0x1" };

/** Members shared by all contract calls. State overrides may be large. */
export const ETH_CALL = {
  ...ETH_STATE_READ,
  failures: ["unsupported", "rejected"],
  cost: "evm",
  takesLargeBody: true,
} as const;

export const CALL = required(callRequest, "The call: from, to, gas, value, data and further fields of a transaction.");
const STATE_OVERRIDES = optional(
  stateOverrides,
  "Replaces parts of accounts for this call, by address: balance, nonce, code, state, stateDiff, " +
    "movePrecompileToAddress.",
);
const BLOCK_OVERRIDES = optional(
  blockOverrides,
  "Replaces header fields for this call: number, time, gasLimit, feeRecipient, prevRandao, baseFeePerGas, blobBaseFee.",
);

const call = defineMethod({
  ...ETH_CALL,
  name: "eth_call",
  summary: "Executes a call without a transaction and returns its output.",
  params: { call: CALL, block: STATE_BLOCK, stateOverrides: STATE_OVERRIDES, blockOverrides: BLOCK_OVERRIDES },
  result: { name: "returnData", schema: shape("Bytes") },
  example: { params: [TRANSFER, "latest"] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("call", args, signal),
});

const estimateGas = defineMethod({
  ...ETH_CALL,
  name: "eth_estimateGas",
  summary: "Returns a gas limit with which the call succeeds.",
  params: {
    call: CALL,
    block: STATE_BLOCK_OR_PENDING,
    stateOverrides: STATE_OVERRIDES,
    blockOverrides: BLOCK_OVERRIDES,
  },
  result: { name: "gas", schema: shape("Quantity") },
  // The default is the pending block.
  dependsOn: undefined,
  example: { params: [TRANSFER] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("estimateGas", args, signal),
});

const createAccessList = defineMethod({
  ...ETH_CALL,
  name: "eth_createAccessList",
  summary: "Returns the accounts and slots that a call reads, as an access list, and its gas.",
  params: { call: CALL, block: STATE_BLOCK, stateOverrides: STATE_OVERRIDES },
  result: {
    name: "accessList",
    schema: object(
      {
        accessList: list(object({ address: shape("Address"), storageKeys: list(shape("Root")) })),
        gasUsed: shape("Quantity"),
      },
      { error: { type: "string" } },
    ),
  },
  example: { params: [TRANSFER, "latest"] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("createAccessList", args, signal),
});

const simulateV1 = defineMethod({
  ...ETH_CALL,
  name: "eth_simulateV1",
  summary: "Executes blocks of calls on top of a block, and returns the blocks with the result of each call.",
  params: {
    simulation: required(
      simulation,
      "Blocks in blockStateCalls (calls, stateOverrides, blockOverrides, also with beaconRoot and withdrawals), " +
        "traceTransfers, validation, returnFullTransactions.",
    ),
    block: STATE_BLOCK,
  },
  result: { name: "blocks", schema: list(shape("EthBlock")) },
  example: { params: [{ blockStateCalls: [{ calls: [TRANSFER] }] }, "latest"] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("simulate", args, signal),
});

export const ethCallMethods = [call, estimateGas, createAccessList, simulateV1] as const;
