import { inspect } from "node:util";
import { expect, it } from "vitest";
import { memoryStore } from "../../../../test/support/evm/engine/storage/memory-store.ts";
import { addressOf, optionsOf, TestChain } from "../../../../test/support/evm/evm.ts";
import { RandomChoices } from "../../../../test/support/random/random-choices.ts";
import { ExecutedBlocks } from "../../engine/executed-blocks.ts";
import { BlockArchive, encodeReceipted } from "../../engine/storage/block-archive.ts";
import type { ExecutedBlock } from "../../execution/block.ts";
import { encodeHeader } from "../../execution/header.ts";
import { toHex } from "../../execution/payload.ts";
import { bloomOf, type Log, type Receipt } from "../../execution/receipt.ts";
import type { Transaction } from "../../execution/transaction.ts";
import { EthChain } from "../eth-chain.ts";
import type { EthEngine } from "../eth-engine.ts";
import type { LogJson } from "../json/receipt-json.ts";
import type { LogQuery } from "./log-query.ts";
import { LogSearch } from "./log-search.ts";

const parseLogs = (json: Uint8Array): LogJson[] => JSON.parse(Buffer.from(json).toString());

const STEPS = 50;
const TOPICS = Array.from({ length: 6 }, (_, n) => new Uint8Array(32).fill(n + 1));
const ADDRESSES = Array.from({ length: 5 }, (_, n) => addressOf(n));

/** Canonical blocks, oldest first. The leading ones are finalized and archived. */
interface Branch {
  blocks: readonly ExecutedBlock[];
  finalized: number;
}

/** A chain of never-executed blocks with random logs. The chain grows, forks and is reverted at random. */
class RandomLogChain {
  readonly #random: RandomChoices;
  readonly #test: TestChain;
  readonly #transaction: Transaction;
  readonly #stored = memoryStore();
  #salt = 0;
  #engine: EthEngine;
  #chain: EthChain;
  #search: LogSearch;
  #branch: Branch = { blocks: [], finalized: 0 };
  readonly #snapshots: Branch[] = [];

  constructor(test: TestChain, seed: number) {
    this.#random = new RandomChoices(seed);
    this.#test = test;
    this.#transaction = test.sign(0, { to: addressOf(1), nonce: 0n });
    this.#engine = this.#openEngine();
    this.#chain = new EthChain(this.#engine, { executesBlocks: false });
    this.#search = new LogSearch(this.#chain);
  }

  step(): void {
    this.#random.weighted<() => void>([
      [10, () => this.#grow(this.#random.integer(1, 50))],
      [3, () => this.#reorg()],
      [6, () => this.#finalize()],
      [3, () => this.#snapshots.push(this.#branch)],
      [2, () => this.#revert()],
      [1, () => this.#restart()],
    ])();
  }

  /** Returns the logs found by a random query, and the logs found by scanning every block. */
  async query() {
    const { blocks } = this.#branch;
    const bounds = [this.#random.integer(0, blocks.length), this.#random.integer(0, blocks.length)];
    const [from, to] = this.#random.chance(0.3) ? [0, blocks.length] : bounds.sort((a, b) => a - b);
    const alternatives = (values: readonly Uint8Array[]) =>
      Array.from({ length: this.#random.integer(0, 2) }, () => toHex(this.#random.pick(values)));
    const criteria: LogQuery = {
      ...(this.#random.chance(0.6) && { addresses: alternatives([...ADDRESSES, addressOf(99)]) }),
      ...(this.#random.chance(0.6) && {
        topics: Array.from({ length: this.#random.integer(0, 4) }, () =>
          this.#random.chance(0.4) ? null : alternatives(TOPICS),
        ),
      }),
    };
    const block = this.#random.chance(0.1) ? blocks[from!] : undefined;
    const query = block
      ? { ...criteria, blockHash: toHex(block.hash) }
      : { ...criteria, fromBlock: { number: BigInt(from!) }, toBlock: { number: BigInt(to!) } };
    const searched = block ? [block] : blocks.slice(Math.max(0, from! - 1), to);
    const found = parseLogs(await this.#search.find(query));
    return { query, found, expected: searched.flatMap((each) => scan(each, criteria)) };
  }

  #grow(count: number): void {
    const blocks = [...this.#branch.blocks];
    for (let grown = 0; grown < count; grown++) blocks.push(this.#blockOn(blocks.at(-1) ?? this.#test.genesis));
    this.#goTo({ ...this.#branch, blocks });
  }

  #reorg(): void {
    const { blocks, finalized } = this.#branch;
    const ancestors = this.#random.integer(Math.max(finalized, blocks.length - 20), blocks.length);
    this.#goTo({ blocks: blocks.slice(0, ancestors), finalized });
    this.#grow(this.#random.integer(1, 20));
  }

  #finalize(): void {
    const { blocks, finalized } = this.#branch;
    this.#goTo({ blocks, finalized: this.#random.integer(finalized, blocks.length) });
    // An engine keeps some of these blocks.
    for (const { hash } of blocks.slice(0, Math.max(0, this.#branch.finalized - 1))) {
      this.#engine.blocks.drop(toHex(hash));
    }
  }

  #revert(): void {
    const [snapshot] = this.#snapshots.splice(this.#random.integer(0, this.#snapshots.length));
    if (snapshot === undefined) return;
    const genesis = toHex(this.#test.genesis.hash);
    this.#chain.setTags({ latest: genesis, safe: genesis, finalized: genesis });
    this.#goTo(snapshot);
  }

  /** Reopens the chain with only the blocks since the finalized one in memory. */
  #restart(): void {
    this.#engine = this.#openEngine();
    this.#chain = new EthChain(this.#engine, { executesBlocks: false });
    this.#search = new LogSearch(this.#chain);
    this.#goTo(this.#branch);
  }

  /** Archives the finalized blocks of a branch, and keeps all other blocks in memory. */
  #goTo(branch: Branch): void {
    const { archived } = this.#stored.stored;
    const { blocks, finalized } = branch;
    const final = blocks.slice(0, finalized);
    const isSame = (index: number) => archived[index]?.hash === toHex(final[index]!.hash);
    archived.length = Math.min(archived.length, finalized);
    const common = final.findIndex((_, index) => !isSame(index));
    if (common >= 0) {
      archived.length = Math.min(archived.length, common);
      archived.push(
        ...final.slice(common).map((block) => ({
          number: Number(block.header.number),
          hash: toHex(block.hash),
          transactions: [],
          bytes: encodeReceipted(block),
        })),
      );
    }
    const canonical = new Set(blocks.map(({ hash }) => toHex(hash)));
    const dropped = [...this.#engine.blocks.all()].filter(({ hash }) => !canonical.has(toHex(hash)));
    if (this.#random.chance(0.5)) for (const { hash } of dropped) this.#engine.blocks.drop(toHex(hash));
    for (const block of blocks.slice(finalized)) this.#engine.blocks.add(block);
    const head = blocks.at(-1);
    if (head && !this.#engine.blocks.get(toHex(head.hash))) this.#engine.blocks.add(head);
    const hashAt = (index: number) => toHex((blocks[index] ?? this.#test.genesis).hash);
    this.#chain.setTags({ latest: hashAt(blocks.length - 1), safe: hashAt(-1), finalized: hashAt(finalized - 1) });
    this.#branch = branch;
  }

  #openEngine(): EthEngine {
    const { rules, genesis } = this.#test;
    return {
      rules,
      blocks: new ExecutedBlocks(genesis, Number.POSITIVE_INFINITY),
      archive: new BlockArchive(this.#stored.store, rules),
      setNextSlot: () => {},
    } as unknown as EthEngine;
  }

  #blockOn(parent: ExecutedBlock): ExecutedBlock {
    const { keccak } = this.#test.rules.crypto;
    const random = this.#random;
    const log = (): Log => ({
      address: random.pick(ADDRESSES),
      topics: Array.from({ length: random.integer(0, 4) }, () => random.pick(TOPICS)),
      data: new Uint8Array(random.integer(0, 40)).fill(7),
    });
    const count = random.chance(0.2) ? random.integer(1, 3) : 0;
    const logs = Array.from({ length: random.chance(0.003) ? 300 : count }, log);
    const receipt: Receipt = {
      type: 2,
      succeeded: true,
      gasUsed: 21_000n,
      cumulativeGasUsed: 21_000n,
      effectiveGasPrice: 1n,
      logs,
      logsBloom: bloomOf(logs, keccak),
    };
    const header = {
      ...parent.header,
      parentHash: parent.hash,
      number: parent.header.number + 1n,
      timestamp: parent.header.timestamp + 12n,
      logsBloom: receipt.logsBloom,
      extraData: Uint8Array.of(1, ++this.#salt >> 8, this.#salt & 0xff),
    };
    return {
      ...parent,
      hash: keccak(encodeHeader(header)),
      header,
      transactions: [this.#transaction],
      receipts: [receipt],
    };
  }
}

/** Examines every log in a block. */
function scan({ hash, header, receipts }: ExecutedBlock, { addresses = [], topics = [] }: LogQuery): string[] {
  const isOneOf = (values: readonly string[] | null, value: Uint8Array | undefined) =>
    value !== undefined && (!values?.length || values.includes(toHex(value)));
  return receipts[0]!.logs.flatMap((log, logIndex) => {
    const isMatch = isOneOf(addresses, log.address) && topics.every((wanted, n) => isOneOf(wanted, log.topics[n]));
    if (!isMatch) return [];
    const numbers = [header.number, logIndex].map((number) => `0x${number.toString(16)}`);
    return [[...numbers, ...[hash, log.address, log.data, ...log.topics].map(toHex)].join()];
  });
}

const textOf = ({ blockNumber, logIndex, blockHash, address, data, topics }: LogJson): string =>
  [blockNumber, logIndex, blockHash, address, data, ...topics].join();

it.each([1, 2, 3])(
  "finds what a look at every log finds, on a chain that changes at random (seed %i)",
  async (seed) => {
    const chain = new RandomLogChain(await TestChain.open(optionsOf("osaka")), seed);
    let logs = 0;
    for (let step = 0; step < STEPS; step++) {
      chain.step();
      for (let queries = 0; queries < 3; queries++) {
        const { query, found, expected } = await chain.query();
        expect(found.map(textOf).join("\n"), inspect(query)).toBe(expected.join("\n"));
        logs += found.length;
      }
    }
    expect(logs).toBeGreaterThan(1000);
  },
);
