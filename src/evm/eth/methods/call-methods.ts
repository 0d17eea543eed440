import { type BlockId, LATEST, PENDING } from "../block-id.ts";
import { createAccessList } from "../calls/access-list.ts";
import { failureError } from "../calls/call-failure.ts";
import type { BlockOverrides, CallRequest, Simulation, StateOverrides } from "../calls/call-request.ts";
import { CallState } from "../calls/call-state.ts";
import { estimateGas } from "../calls/estimate-gas.ts";
import { simulate } from "../calls/simulate.ts";
import type { EthChain } from "../eth-chain.ts";
import { data, quantity } from "../json/hex.ts";

export interface CallArgs {
  call: CallRequest;
  block?: BlockId | undefined;
  stateOverrides?: StateOverrides | undefined;
  blockOverrides?: BlockOverrides | undefined;
}

interface SimulateArgs {
  simulation: Simulation;
  block?: BlockId | undefined;
}

/** Methods that execute calls without a transaction. */
export function callMethods(chain: EthChain) {
  const open = async <T>(
    { block = LATEST, stateOverrides, blockOverrides }: CallArgs,
    signal: AbortSignal | undefined,
    work: (state: CallState) => Promise<T>,
  ): Promise<T> => {
    const context = { block: await chain.withCallState(block), stateOverrides, blockOverrides, signal };
    return CallState.open(chain.engine.rules, context, work);
  };
  return {
    call: async (args: CallArgs, signal?: AbortSignal) => {
      const { failure, returnData } = await open(args, signal, (state) => state.call(args.call));
      if (failure) throw failureError(failure);
      return data(returnData);
    },
    /** Defaults to the pending block: the transaction will run in the next block, whose timestamp may be much later. */
    estimateGas: async ({ block = PENDING, ...args }: CallArgs, signal?: AbortSignal) =>
      quantity(await open({ ...args, block }, signal, (state) => estimateGas(state, args.call))),
    createAccessList: (args: CallArgs, signal?: AbortSignal) =>
      open(args, signal, (state) => createAccessList(state, args.call)),
    simulate: async ({ simulation, block = LATEST }: SimulateArgs, signal?: AbortSignal) =>
      simulate(chain.engine.executor, await chain.withState(block), simulation, signal),
  };
}
