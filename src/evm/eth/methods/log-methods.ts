import type { EthChain } from "../eth-chain.ts";
import { findLogs, type LogQuery, rangeOf } from "../logs/find-logs.ts";

interface LogArgs {
  query: LogQuery;
}

export function logMethods(chain: EthChain) {
  return {
    getLogs: async ({ query }: LogArgs, signal?: AbortSignal) => findLogs(chain, query, signal),
    /** Throws an `EthError` if the query has no valid range on the present chain. */
    checkLogRange: async ({ query }: LogArgs) => {
      rangeOf(chain, query);
    },
  };
}
