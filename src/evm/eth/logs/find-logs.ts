import { TimeSlice } from "../../../async/time-slice.ts";
import { LATEST, type NumberedBlock } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import type { Json } from "../json/transaction-json.ts";
import { type LogCriteria, LogMatcher } from "./log-matcher.ts";

/** Query for logs of a range of canonical blocks, or of one block. */
export interface LogQuery extends LogCriteria {
  fromBlock?: NumberedBlock | undefined;
  toBlock?: NumberedBlock | undefined;
  /** Mutually exclusive with a range. */
  blockHash?: string | undefined;
}

export interface LogLimits {
  blocks: number;
  results: number;
}

const DEFAULT_LIMITS: LogLimits = { blocks: 1_000_000, results: 20_000 };
const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -32005;

/** Finds logs. Throws an `EthError` if the search exceeds a limit. */
export async function findLogs(
  chain: EthChain,
  query: LogQuery,
  signal?: AbortSignal,
  { blocks: maxBlocks, results }: LogLimits = DEFAULT_LIMITS,
): Promise<Json[]> {
  const matcher = new LogMatcher(query, chain.engine.rules.crypto.keccak);
  if (query.blockHash !== undefined) {
    const block = await chain.find({ hash: query.blockHash });
    if (block === undefined) throw new EthError("unknown block");
    return atMost(results, matcher.logsOf(block));
  }
  const { from, to } = rangeOf(chain, query);
  if (to > chain.latest.header.number) {
    throw new EthError("block range extends beyond current head block", INVALID_PARAMS);
  }
  if (to - from >= maxBlocks) {
    throw new EthError(`block range is too large: ${to - from + 1n} blocks, limit ${maxBlocks}`, LIMIT_EXCEEDED);
  }
  const slice = new TimeSlice();
  const found: Json[] = [];
  for await (const { logsBloom, decode } of chain.scan(from, to)) {
    if (matcher.mayMatch(logsBloom)) found.push(...atMost(results - found.length, matcher.logsOf(decode()), results));
    await slice.yieldIfDue();
    signal?.throwIfAborted();
  }
  return found;
}

function atMost(count: number, logs: Json[], limit = count): Json[] {
  if (logs.length <= count) return logs;
  throw new EthError(`query returned more than ${limit} results`, LIMIT_EXCEEDED);
}

/** Resolves the bounds of a query on the current chain. */
function rangeOf(chain: EthChain, query: LogQuery): { from: bigint; to: bigint } {
  checkRange(query);
  const { fromBlock = LATEST, toBlock = LATEST } = query;
  const [from, to] = [chain.numberOf(fromBlock), chain.numberOf(toBlock)];
  if (from > to) throw invalidRange();
  return { from, to };
}

/** Throws an `EthError` if the range of a query is empty on any chain. */
export function checkRange({ fromBlock = LATEST, toBlock = LATEST }: LogQuery): void {
  if ([fromBlock, toBlock].some((block) => "tag" in block && block.tag === "pending")) {
    throw new EthError("pending logs are not supported", INVALID_PARAMS);
  }
  if ("number" in fromBlock && "number" in toBlock && fromBlock.number > toBlock.number) throw invalidRange();
}

const invalidRange = () => new EthError("invalid block range params", INVALID_PARAMS);
