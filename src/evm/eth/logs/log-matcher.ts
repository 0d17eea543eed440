import type { ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import { type Log, logBloomBits } from "../../execution/receipt.ts";
import type { Keccak } from "../../state/trie.ts";
import { data, fromHex } from "../json/hex.ts";
import { logJson } from "../json/receipt-json.ts";
import type { Json } from "../json/transaction-json.ts";
import type { IndexedLogs, LogJson } from "./indexed-logs.ts";

/** Filter criteria for logs, in lowercase hex. */
export interface LogCriteria {
  /** Matches any of these; undefined or empty matches all. */
  addresses?: readonly string[] | undefined;
  /** Accepted topics by position. Null and missing positions match any topic. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Finds matching logs in blocks. Skips most blocks by their bloom filter. */
export class LogMatcher {
  readonly #addresses: ReadonlySet<string> | undefined;
  readonly #topics: readonly (ReadonlySet<string> | undefined)[];
  /** Bloom bits of each condition's alternatives. */
  readonly #bits: readonly (readonly number[])[][];

  constructor({ addresses, topics = [] }: LogCriteria, keccak: Keccak) {
    const setOf = (values: readonly string[] | null | undefined) => (values?.length ? new Set(values) : undefined);
    this.#addresses = setOf(addresses);
    this.#topics = topics.map(setOf);
    this.#bits = [this.#addresses, ...this.#topics].flatMap((values) =>
      values === undefined ? [] : [[...values].map((value) => logBloomBits(fromHex(value), keccak))],
    );
  }

  /** Returns false if the bloom filter rules out a matching log. */
  mayMatch(bloom: Uint8Array): boolean {
    const has = (bit: number) => (bloom[bloom.length - 1 - (bit >> 3)]! & (1 << (bit & 7))) !== 0;
    if (bloom.every((byte) => byte === 0)) return false;
    return this.#bits.every((alternatives) => alternatives.some((bits) => bits.every(has)));
  }

  /** Returns the matching logs of a block as JSON. `removed` is true for a block that is no longer canonical. */
  logsOf(block: ReceiptedBlock, removed = false): Json[] {
    if (!this.mayMatch(block.header.logsBloom)) return [];
    const found: Json[] = [];
    let logIndex = 0;
    for (const [transactionIndex, { logs }] of block.receipts.entries()) {
      for (const log of logs) {
        if (this.#matches(log)) found.push(logJson(log, { block, transactionIndex, logIndex }, removed));
        logIndex++;
      }
    }
    return found;
  }

  /** Returns the matching logs of a block and the number of logs examined. */
  select(indexed: IndexedLogs): { found: readonly LogJson[]; examined: number } {
    const candidates = this.#candidates(indexed);
    const found = candidates.filter(
      ({ address, topics }) =>
        topics.length >= this.#topics.length &&
        (this.#addresses?.has(address) ?? true) &&
        this.#topics.every((accepted, index) => accepted?.has(topics[index]!) ?? true),
    );
    return { found, examined: candidates.length };
  }

  /** Returns the logs that meet the most selective condition. */
  #candidates(indexed: IndexedLogs): readonly LogJson[] {
    let mostSelective: { count: number; lists: (readonly number[])[] } | undefined;
    for (const [index, values] of [this.#addresses, ...this.#topics].entries()) {
      if (values === undefined) continue;
      const lists = Array.from(values, (value) => indexed.positionsOf(index, value)).filter(({ length }) => length > 0);
      const count = lists.reduce((sum, { length }) => sum + length, 0);
      if (mostSelective === undefined || count < mostSelective.count) mostSelective = { count, lists };
    }
    if (mostSelective === undefined) return indexed.logs;
    const [only = []] = mostSelective.lists;
    const positions = mostSelective.lists.length <= 1 ? only : mostSelective.lists.flat().sort((a, b) => a - b);
    return positions.map((position) => indexed.logs[position]!);
  }

  #matches({ address, topics }: Log): boolean {
    if (this.#addresses !== undefined && !this.#addresses.has(data(address))) return false;
    if (this.#topics.length > topics.length) return false;
    return this.#topics.every((accepted, index) => accepted === undefined || accepted.has(data(topics[index]!)));
  }
}
