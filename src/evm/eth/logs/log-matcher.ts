import { isEmptyBloom, type Log, logBloomBits } from "../../execution/receipt.ts";
import type { Keccak } from "../../state/trie.ts";
import { data, fromHex } from "../json/hex.ts";
import type { LogJson } from "../json/receipt-json.ts";
import type { IndexedLogs } from "./indexed-logs.ts";

/** Filter criteria for logs, in lowercase hex. */
export interface LogCriteria {
  /** Matches any of these; undefined or empty matches all. */
  addresses?: readonly string[] | undefined;
  /** Accepted topics by position. Null and missing positions match any topic. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Finds matching logs in blocks. Uses bloom filters to skip most blocks. */
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
    if (this.#bits.length === 0) return !isEmptyBloom(bloom);
    return this.#bits.every((alternatives) => alternatives.some((bits) => bits.every(has)));
  }

  matches({ address, topics }: Pick<LogJson, "address" | "topics">): boolean {
    return (
      topics.length >= this.#topics.length &&
      (this.#addresses?.has(address) ?? true) &&
      this.#topics.every((accepted, index) => accepted?.has(topics[index]!) ?? true)
    );
  }

  matchesRaw({ address, topics }: Log): boolean {
    return this.matches({ address: data(address), topics: topics.map(data) });
  }

  /** Returns a block's matching logs and the number of logs examined. */
  select(indexed: IndexedLogs): { found: readonly LogJson[]; examined: number } {
    const candidates = this.#candidates(indexed);
    return { found: candidates.filter((log) => this.matches(log)), examined: candidates.length };
  }

  /** Returns the logs that satisfy the most selective condition. */
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
}
