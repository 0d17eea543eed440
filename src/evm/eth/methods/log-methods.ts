import type { EthChain } from "../eth-chain.ts";
import type { LogQuery } from "../logs/log-query.ts";
import { LogSearch } from "../logs/log-search.ts";

interface LogArgs {
  query: LogQuery;
}

export function logMethods(chain: EthChain) {
  const search = new LogSearch(chain);
  return { getLogs: async ({ query }: LogArgs, signal?: AbortSignal) => search.find(query, signal) };
}
