import type { ExecutedBlock } from "../../execution/block.ts";
import { CallBudget } from "../../execution/call-budget.ts";
import { toHex } from "../../execution/payload.ts";
import { LATEST } from "../block-id.ts";
import { callFailure } from "../calls/call-failure.ts";
import { CallState, GAS_CAP } from "../calls/call-state.ts";
import { lower } from "../calls/call-transaction.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { CallTracer } from "../traces/call-tracer.ts";
import { StructLogger } from "../traces/struct-logger.ts";
import type { TraceOptions } from "../traces/trace-options.ts";
import type { Tracer } from "../traces/tracer.ts";
import type { CallArgs } from "./call-methods.ts";

const TIMEOUT_MS = 5000;

interface TraceTransactionArgs {
  hash: string;
  options?: TraceOptions | undefined;
}

interface TraceCallArgs extends CallArgs {
  options?: TraceOptions | undefined;
}

/** Traces of transactions and calls. */
export function traceMethods(chain: EthChain) {
  const { executor, rules } = chain.engine;
  return {
    traceTransaction: async ({ hash, options }: TraceTransactionArgs, signal?: AbortSignal) => {
      const found = await chain.findTransaction(hash);
      if (found === undefined) throw new EthError("transaction not found");
      const { block, index } = found;
      const parent = await chain.withState({ hash: toHex(block.header.parentHash) });
      const state = await chain.engine.stateBefore(parent, block);
      const tracer = createTracer(block.transactions[index]!.tx.gasLimit, options);
      const budget = new CallBudget(TIMEOUT_MS, signal);
      return executor.replay(state, block, index, budget, async ({ vm }, apply) => {
        const detach = tracer.attach(vm.evm.events!);
        const { totalGasSpent, execResult } = await apply();
        detach();
        const { returnValue, exceptionError } = execResult;
        const failure = exceptionError && callFailure(exceptionError.error, returnValue);
        return tracer.result({ gasUsed: totalGasSpent, returnData: returnValue, failure });
      });
    },
    traceCall: async (args: TraceCallArgs, signal?: AbortSignal) => {
      const { call, block = LATEST, stateOverrides, blockOverrides, options } = args;
      const at: ExecutedBlock = await chain.withState(block);
      return CallState.open(rules, { block: at, stateOverrides, blockOverrides, signal }, async (state) => {
        const tracer = createTracer(lower(call.gas ?? GAS_CAP, GAS_CAP), options);
        const detach = tracer.attach(state.machine.vm.evm.events!);
        const outcome = await state.run(call);
        detach();
        return tracer.result(outcome);
      });
    },
  };
}

function createTracer(gasLimit: bigint, options: TraceOptions = {}): Tracer {
  return options.tracer === "callTracer" ? new CallTracer(gasLimit, options.tracerConfig) : new StructLogger(options);
}
