import { defineMethod, optional, required } from "../../definition.ts";
import { hash32 } from "../../params/eth.ts";
import { traceCallOptions, traceOptions } from "../../params/eth-trace.ts";
import { list, object, shape } from "../../schemas.ts";
import { CALL, ETH_CALL } from "./calls.ts";
import { BLOCK_HASH, BLOCK_NUMBER, ethOf, STATE_BLOCK } from "./eth-of.ts";

const OPTIONS =
  "Tracer with tracerConfig: callTracer (onlyTopCall, withLog), prestateTracer (diffMode, disableCode, " +
  "disableStorage, includeEmpty), 4byteTracer, noopTracer. Without a tracer, every opcode is recorded: enableMemory, " +
  "disableStack, disableStorage, enableReturnData, limit.";
const TRACE = { name: "trace", schema: object({}) };
const TRACES = { name: "traces", schema: list(object({ txHash: shape("Root"), result: object({}) })) };

const traceTransaction = defineMethod({
  ...ETH_CALL,
  name: "debug_traceTransaction",
  summary: "Executes a transaction of a block again, and returns its calls or its opcodes.",
  params: {
    hash: required(hash32, "Transaction hash."),
    options: optional(traceOptions, OPTIONS),
  },
  result: TRACE,
  example: { params: (chain) => [chain.transactionHash, { tracer: "callTracer" }] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("traceTransaction", args, signal),
});

const traceBlockByNumber = defineMethod({
  ...ETH_CALL,
  name: "debug_traceBlockByNumber",
  summary: "Executes the transactions of the block with a number or tag again, and returns the trace of each.",
  params: { block: BLOCK_NUMBER, options: optional(traceOptions, OPTIONS) },
  result: TRACES,
  example: { params: ["latest", { tracer: "callTracer" }] },
  handler: (context, args, { signal } = {}) => ethOf(context).call("traceBlock", args, signal),
});

const traceBlockByHash = defineMethod({
  ...ETH_CALL,
  name: "debug_traceBlockByHash",
  summary: "Executes the transactions of the block with a hash again, and returns the trace of each.",
  params: { hash: BLOCK_HASH, options: optional(traceOptions, OPTIONS) },
  result: TRACES,
  example: { params: (chain) => [chain.executionHash, { tracer: "prestateTracer" }] },
  handler: (context, { hash, options }, { signal } = {}) =>
    ethOf(context).call("traceBlock", { block: { hash }, options }, signal),
});

const traceCall = defineMethod({
  ...ETH_CALL,
  name: "debug_traceCall",
  summary: "Executes a call without a transaction, and returns its calls or its opcodes.",
  params: {
    call: CALL,
    block: STATE_BLOCK,
    options: optional(traceCallOptions, `${OPTIONS} stateOverrides and blockOverrides as in eth_call.`),
  },
  result: TRACE,
  example: {
    params: [{ to: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", value: "0x0" }, "latest", { tracer: "callTracer" }],
  },
  handler: (context, { call, block, options = {} }, { signal } = {}) => {
    const { stateOverrides, blockOverrides, ...rest } = options;
    return ethOf(context).call("traceCall", { call, block, stateOverrides, blockOverrides, options: rest }, signal);
  },
});

export const ethTraceMethods = [traceTransaction, traceBlockByNumber, traceBlockByHash, traceCall] as const;
