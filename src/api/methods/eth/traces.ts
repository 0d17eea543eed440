import { defineMethod, optional, required } from "../../definition.ts";
import { hash32 } from "../../params/eth.ts";
import { traceCallOptions, traceOptions } from "../../params/eth-trace.ts";
import { object } from "../../schemas.ts";
import { CALL, ETH_CALL } from "./calls.ts";
import { ethOf, STATE_BLOCK } from "./eth-of.ts";

const OPTIONS =
  "Tracer: callTracer with tracerConfig (onlyTopCall, withLog). Without a tracer, every opcode is recorded: " +
  "enableMemory, disableStack, disableStorage, limit.";
const TRACE = { name: "trace", schema: object({}) };

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

const traceCall = defineMethod({
  ...ETH_CALL,
  name: "debug_traceCall",
  summary: "Executes a call without a transaction, and returns its calls or its opcodes.",
  params: {
    call: CALL,
    block: STATE_BLOCK,
    options: optional(traceCallOptions, `${OPTIONS} stateOverrides and blockOverrides as of eth_call.`),
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

export const ethTraceMethods = [traceTransaction, traceCall] as const;
