import type { EthChain } from "../eth-chain.ts";
import { Filters } from "../logs/filters.ts";
import { findLogs, type LogQuery } from "../logs/find-logs.ts";

interface FilterArgs {
  id: string;
}

/** Logs, and filters that clients poll. */
export function logMethods(chain: EthChain) {
  const filters = new Filters(chain);
  return {
    getLogs: async ({ query }: { query: LogQuery }, signal?: AbortSignal) => findLogs(chain, query, signal),
    newFilter: async ({ query }: { query: LogQuery }) => filters.addLogs(query),
    newBlockFilter: async () => filters.addBlocks(),
    newPendingTransactionFilter: async () => filters.addPendingTransactions(),
    getFilterChanges: async ({ id }: FilterArgs) => filters.changes(id),
    getFilterLogs: async ({ id }: FilterArgs, signal?: AbortSignal) => filters.logs(id, signal),
    uninstallFilter: async ({ id }: FilterArgs) => filters.remove(id),
  };
}
