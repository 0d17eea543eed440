import { isEOACode7702Tx } from "@ethereumjs/tx";
import { eoaCode7702RecoverAuthority } from "@ethereumjs/util";
import type { ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import { CallBudget } from "../../execution/call-budget.ts";
import { toHex } from "../../execution/payload.ts";
import type { Machine } from "../../execution/rules.ts";
import type { Transaction } from "../../execution/transaction.ts";
import { type BlockId, LATEST } from "../block-id.ts";
import { callFailure } from "../calls/call-failure.ts";
import { CallState, GAS_CAP } from "../calls/call-state.ts";
import { callTransaction, lower } from "../calls/call-transaction.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";
import { createTracer } from "../traces/create-tracer.ts";
import type { TraceOptions } from "../traces/trace-options.ts";
import { TraceSize } from "../traces/trace-size.ts";
import type { TraceSubject } from "../traces/tracer.ts";
import type { CallArgs } from "./call-methods.ts";

interface TraceTransactionArgs {
  hash: string;
  options?: TraceOptions | undefined;
}

interface TraceBlockArgs {
  block: BlockId;
  options?: TraceOptions | undefined;
}

interface TraceCallArgs extends CallArgs {
  options?: TraceOptions | undefined;
}

/** Methods that trace transactions and calls. */
export function traceMethods(chain: EthChain) {
  const { executor, rules } = chain.engine;
  /** Traces one or all transactions in a block. */
  const traceBlock = async (
    block: ReceiptedBlock,
    options: TraceOptions,
    signal: AbortSignal | undefined,
    only?: number,
  ): Promise<unknown[]> => {
    const parent = await chain.withState({ hash: toHex(block.header.parentHash) });
    const state = await chain.engine.stateBefore(parent, block);
    const size = new TraceSize();
    const budget = new CallBudget(signal);
    return executor.replay(state, block, { budget, only }, async (machine, transaction, apply) => {
      const tracer = createTracer(options, transaction.tx.gasLimit, size);
      const subject = subjectOf(machine, transaction, block.header.feeRecipient);
      const detach = tracer.attach(machine.vm.evm.events!, subject);
      const { totalGasSpent, execResult } = await apply();
      detach();
      const { returnValue, exceptionError } = execResult;
      const failure = exceptionError && callFailure(exceptionError.error, returnValue);
      return tracer.result({ gasUsed: totalGasSpent, returnData: returnValue, failure });
    });
  };
  return {
    traceTransaction: async ({ hash, options = {} }: TraceTransactionArgs, signal?: AbortSignal) => {
      const found = await chain.findTransaction(hash);
      if (found === undefined) throw new EthError("transaction not found");
      const [trace] = await traceBlock(found.block, options, signal, found.index);
      return trace;
    },
    traceBlock: async ({ block: id, options = {} }: TraceBlockArgs, signal?: AbortSignal) => {
      if ("tag" in id && id.tag === "pending") throw new EthError("tracing on top of pending is not supported");
      const block = await chain.find(id);
      if (block === undefined) throw new EthError("block not found");
      if (block.header.number === 0n) throw new EthError("genesis is not traceable");
      const traces = await traceBlock(block, options, signal);
      return traces.map((result, index) => ({ txHash: data(block.transactions[index]!.hash), result }));
    },
    traceCall: async (args: TraceCallArgs, signal?: AbortSignal) => {
      const { call, block = LATEST, stateOverrides, blockOverrides, options = {} } = args;
      const context = { block: await chain.withCallState(block), stateOverrides, blockOverrides, signal };
      return CallState.open(rules, context, async (state) => {
        const { machine, environment } = state;
        const gas = lower(call.gas ?? GAS_CAP, GAS_CAP);
        const tracer = createTracer(options, gas, new TraceSize());
        const tx = callTransaction(call, { gas, nonce: 0n }, state.rules);
        const subject = subjectOf(machine, { tx, sender: tx.getSenderAddress() }, environment.feeRecipient);
        const detach = tracer.attach(machine.vm.evm.events!, subject);
        const outcome = await state.run(call);
        detach();
        return tracer.result(outcome);
      });
    },
  };
}

function subjectOf(
  { state, vm }: Machine,
  { tx, sender }: Pick<Transaction, "tx" | "sender">,
  feeRecipient: Uint8Array,
): TraceSubject {
  return {
    state,
    sender: sender.bytes,
    recipient: tx.to?.bytes,
    feeRecipient,
    authorities: authoritiesOf(tx),
    precompiles: vm.evm.precompiles,
  };
}

/** Returns the authorities of a transaction. Skips authorizations with invalid signatures. */
function authoritiesOf(tx: Transaction["tx"]): Uint8Array[] {
  if (!isEOACode7702Tx(tx)) return [];
  return tx.authorizationList.flatMap((authorization) => {
    try {
      return [eoaCode7702RecoverAuthority(authorization).bytes];
    } catch {
      return [];
    }
  });
}
