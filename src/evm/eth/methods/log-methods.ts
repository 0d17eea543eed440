import type { EthChain } from "../eth-chain.ts";
import { findLogs, type LogQuery } from "../logs/find-logs.ts";

interface LogArgs {
  query: LogQuery;
}

export function logMethods(chain: EthChain) {
  return { getLogs: async ({ query }: LogArgs, signal?: AbortSignal) => findLogs(chain, query, signal) };
}
