import { TimeSlice } from "../../../async/time-slice.ts";
import { ByteLru } from "../../../collections/byte-lru.ts";
import type { LoggedBlock } from "../../engine/storage/block-archive.ts";
import { BloomIndex } from "../../engine/storage/bloom-index.ts";
import { toHex } from "../../execution/payload.ts";
import { LATEST } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { type LogJson, logsJson } from "../json/receipt-json.ts";
import { LogMatcher } from "./log-matcher.ts";
import { checkRange, invalidRange, type LogQuery } from "./log-query.ts";

export interface LogLimits {
  blocks: number;
  results: number;
}

const DEFAULT_LIMITS: LogLimits = { blocks: 1_000_000, results: 20_000 };
const MAX_LOG_BYTES = 32 * 2 ** 20;
/** Estimated size of an encoded log besides its JSON. */
const LOG_BYTES = 500;
/** For blocks with more logs, only the matching logs are encoded. */
const MAX_CACHED_PER_BLOCK = 256;
const [OPENING_BRACKET, COMMA, CLOSING_BRACKET] = [0x5b, 0x2c, 0x5d];
const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -32005;

/** A block whose bloom filter matches. */
interface Candidate {
  hash: string;
  /** Returns a function that decodes the block, or undefined if it no longer exists. */
  read(): Promise<(() => LoggedBlock) | undefined>;
}

/** A log as JSON, with what a filter compares. */
interface EncodedLog extends Pick<LogJson, "address" | "topics"> {
  json: Uint8Array;
}

/** Searches the logs of a chain. Caches encoded logs and an index of the archived blocks. */
export class LogSearch {
  readonly #chain: EthChain;
  /** Encoded logs by block hash. */
  readonly #logs = new ByteLru<readonly EncodedLog[]>({ bytes: MAX_LOG_BYTES });
  #index: BloomIndex | undefined;

  constructor(chain: EthChain) {
    this.#chain = chain;
  }

  /** Finds logs. Returns a JSON array. Throws an `EthError` if the search exceeds a limit. */
  async find(
    query: LogQuery,
    signal?: AbortSignal,
    { blocks: maxBlocks, results }: LogLimits = DEFAULT_LIMITS,
  ): Promise<Uint8Array> {
    const chain = this.#chain;
    const matcher = new LogMatcher(query, chain.engine.rules.crypto.keccak);
    const found: EncodedLog[] = [];
    const add = (logs: readonly EncodedLog[]) => {
      if (found.length + logs.length > results) {
        throw new EthError(`query returned more than ${results} results`, LIMIT_EXCEEDED);
      }
      for (const log of logs) found.push(log);
    };
    if (query.blockHash !== undefined) {
      const block = await chain.find({ hash: query.blockHash });
      if (block === undefined) throw new EthError("unknown block");
      add(logsJson(block, (log) => matcher.matchesRaw(log)).map(encode));
      return listOf(found);
    }
    const { from, to } = rangeOf(chain, query);
    if (to > chain.latest.header.number) {
      throw new EthError("block range extends beyond current head block", INVALID_PARAMS);
    }
    if (to - from >= maxBlocks) {
      throw new EthError(`block range is too large: ${to - from + 1n} blocks, limit ${maxBlocks}`, LIMIT_EXCEEDED);
    }
    const slice = new TimeSlice();
    for await (const candidates of this.#candidates(from, to, matcher)) {
      for (const select of await Promise.all(candidates.map((candidate) => this.#open(candidate, matcher)))) {
        add(select());
        await slice.yieldIfDue();
        signal?.throwIfAborted();
      }
      signal?.throwIfAborted();
    }
    return listOf(found);
  }

  readonly #isRecent = (number: number, hash: string): boolean => this.#chain.isRecent(BigInt(number), hash);

  /** Yields those blocks in a range that may contain matching logs, grouped so that each group can be read at once. */
  async *#candidates(from: bigint, to: bigint, matcher: LogMatcher): AsyncGenerator<Candidate[]> {
    const { archive, rules } = this.#chain.engine;
    for (const found of this.#chain.inRange(from, to)) {
      if ("header" in found) {
        if (matcher.mayMatch(found.header.logsBloom))
          yield [{ hash: toHex(found.hash), read: async () => () => found }];
      } else if (archive !== undefined) {
        this.#index ??= new BloomIndex(archive, rules.crypto.keccak);
        for await (const blocks of this.#index.search(found.from, found.to, this.#isRecent)) {
          yield blocks
            .filter(({ logsBloom }) => matcher.mayMatch(logsBloom))
            .map(({ hash, number }) => ({ hash, read: () => archive.openLogged(number) }));
        }
      }
    }
  }

  /** Returns a function that selects the matching logs. Blocks are decoded one at a time because they can be large. */
  async #open({ hash, read }: Candidate, matcher: LogMatcher): Promise<() => readonly EncodedLog[]> {
    const cached = this.#logs.get(hash);
    if (cached !== undefined) return () => cached.filter((log) => matcher.matches(log));
    const decode = await read();
    return () => (decode === undefined ? [] : this.#select(hash, decode(), matcher));
  }

  #select(hash: string, block: LoggedBlock, matcher: LogMatcher): readonly EncodedLog[] {
    // A revert may have replaced the block in the meantime.
    if (toHex(block.hash) !== hash) return [];
    const count = block.receipts.reduce((sum, { logs }) => sum + logs.length, 0);
    if (count > MAX_CACHED_PER_BLOCK) return logsJson(block, (log) => matcher.matchesRaw(log)).map(encode);
    const logs = logsJson(block).map(encode);
    const bytes = logs.reduce((sum, { json }) => sum + LOG_BYTES + json.length, 0);
    this.#logs.set(hash, logs, bytes);
    return logs.filter((log) => matcher.matches(log));
  }
}

function encode(log: LogJson): EncodedLog {
  return { address: log.address, topics: log.topics, json: Buffer.from(JSON.stringify(log)) };
}

/** Joins the JSON of logs, since encoding them again would take ten times as long. */
function listOf(logs: readonly EncodedLog[]): Uint8Array {
  // With a comma or the closing bracket after each log.
  const length = logs.reduce((sum, { json }) => sum + json.length + 1, 0);
  const list = new Uint8Array(1 + Math.max(1, length)).fill(COMMA);
  let end = 1;
  for (const { json } of logs) {
    list.set(json, end);
    end += json.length + 1;
  }
  list[0] = OPENING_BRACKET;
  list[list.length - 1] = CLOSING_BRACKET;
  return list;
}

/** Resolves a query's bounds against the current chain. */
function rangeOf(chain: EthChain, query: LogQuery): { from: bigint; to: bigint } {
  checkRange(query);
  const { fromBlock = LATEST, toBlock = LATEST } = query;
  const [from, to] = [chain.numberOf(fromBlock), chain.numberOf(toBlock)];
  if (from > to) throw invalidRange();
  return { from, to };
}
