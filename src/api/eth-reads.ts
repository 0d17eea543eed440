import type { EthMethodName } from "../evm/eth/eth-service.ts";
import type { Params } from "../server/method-table.ts";
import { bind } from "./bind.ts";
import { cachePolicyOf } from "./cache-policy.ts";
import type { ApiContext } from "./context.ts";
import type { MethodDefinition } from "./definition.ts";
import { ethCallMethods } from "./methods/eth/calls.ts";
import { getLogs } from "./methods/eth/logs.ts";
import { getBalance, getCode, getStorageAt } from "./methods/eth/state.ts";
import { ethTraceMethods } from "./methods/eth/traces.ts";

/** Reads the execution layer. Returns the JSON of the result. */
type EthRead = (name: EthMethodName, args: unknown, signal?: AbortSignal) => Promise<Uint8Array>;

/** A method that takes unparsed parameters. */
interface BoundRead {
  /** Returns the result as JSON. */
  call(params: Params, signal: AbortSignal): Promise<Uint8Array>;
  isCacheable(params: Params): boolean;
}

/** Methods that only read the execution layer, and therefore run in the thread for reads. */
export const ETH_READS: readonly MethodDefinition[] = [...ethCallMethods, ...ethTraceMethods, getLogs];

/** Short reads, which run in the thread for reads unless they would wait for others. */
export const SHORT_ETH_READS: readonly MethodDefinition[] = [getBalance, getCode, getStorageAt];

/** Binds the methods to reads in the same thread. */
export function bindEthReads(read: EthRead): ReadonlyMap<string, BoundRead> {
  // The handlers of these methods use nothing else.
  const context = { eth: { call: read } } as unknown as ApiContext;
  return new Map(
    [...ETH_READS, ...SHORT_ETH_READS].map((method) => [
      method.name,
      {
        call: async (params, signal) =>
          (await method.handler!(context, await bind(method, params), { signal })) as Uint8Array,
        isCacheable: (params) => cachePolicyOf(method, params) !== undefined,
      },
    ]),
  );
}
