import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";
import { JsonRpcResponseError } from "../json-rpc-client.ts";
import { type DepositChain, type Eth1Block, hashOf } from "./deposit-chain.ts";
import type { LoggedDeposit } from "./deposit-log.ts";
import { EndpointError, RangeTooLargeError } from "./endpoint-error.ts";
import type { Eth1Header, Eth1Node } from "./eth1-node.ts";

interface ReadingTimes {
  /** Time up to which blocks are read. */
  until: number;
  /** Blocks since this time are candidates for votes. Only deposits are read from earlier blocks. */
  votesFrom: number;
}

/** Number of blocks in the first log query. */
const FIRST_SPAN = 1000;
const LARGEST_SPAN = 50_000;
const GROWTH = 1.25;
/** Maximum number of blocks per query if all headers are needed. */
const LARGEST_SPAN_WITH_HEADERS = 256;

/** Reads blocks and deposits from a deposit chain node. */
export class DepositReader {
  readonly #deposits: DepositChain;
  readonly #logger: Logger;
  #span = FIRST_SPAN;

  constructor({ deposits, logger }: { deposits: DepositChain; logger: Logger }) {
    this.#deposits = deposits;
    this.#logger = logger;
  }

  /** Continues reading up to the block at time `until`. Rejects with an `EndpointError` if the node is unusable. */
  async readFrom(node: Eth1Node, { until, votesFrom }: ReadingTimes): Promise<void> {
    await this.#rewindOrphans(node);
    const lastWithoutVotes = await this.#lastBlockAt(node, Math.min(until, votesFrom));
    if (lastWithoutVotes !== null) await this.#readTo(node, lastWithoutVotes, { withHeaders: false, votesFrom });
    const last = await this.#lastBlockAt(node, until);
    if (last !== null) await this.#readTo(node, last, { withHeaders: true, votesFrom });
  }

  get #next(): number {
    return (this.#deposits.newest?.number ?? -1) + 1;
  }

  /** Returns the last block up to a time, or null if it has already been read. */
  async #lastBlockAt(node: Eth1Node, time: number): Promise<number | null> {
    const isBy = async (number: number) => ((await node.header(number))?.timestamp ?? Number.POSITIVE_INFINITY) <= time;
    if (!(await isBy(this.#next))) return null;
    let low = this.#next;
    let step = 1;
    while (await isBy(low + step)) {
      low += step;
      step *= 2;
    }
    for (let high = low + step; high - low > 1; ) {
      const middle = Math.floor((low + high) / 2);
      if (await isBy(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Halves the range if the node refuses it; otherwise grows it. */
  async #readTo(node: Eth1Node, last: number, how: { withHeaders: boolean; votesFrom: number }): Promise<void> {
    const largest = how.withHeaders ? LARGEST_SPAN_WITH_HEADERS : LARGEST_SPAN;
    while (this.#next <= last) {
      const span = Math.min(this.#span, largest, last - this.#next + 1);
      try {
        await this.#readRange(node, this.#next, this.#next + span - 1, how);
        this.#span = Math.min(LARGEST_SPAN, Math.max(this.#span, Math.ceil(span * GROWTH)));
      } catch (error) {
        const mayShrink = error instanceof JsonRpcResponseError || error instanceof RangeTooLargeError;
        if (!mayShrink || span === 1) throw error;
        this.#span = Math.ceil(span / 2);
      }
    }
  }

  async #readRange(
    node: Eth1Node,
    from: number,
    to: number,
    { withHeaders, votesFrom }: { withHeaders: boolean; votesFrom: number },
  ): Promise<void> {
    const [headers, deposits] = await Promise.all([node.headers(withHeaders ? from : to, to), node.deposits(from, to)]);
    this.#assertConsecutive(headers, deposits);
    const extension = this.#deposits.extension(headers, deposits);
    const contract = await node.contractState(to);
    if (contract) {
      const { tree } = extension;
      if (contract.depositCount !== tree.count) throw missingLogs(tree.count);
      if (!byteArrayEquals(contract.depositRoot, tree.root)) {
        throw new EndpointError("returns deposit logs that do not match the deposit root of the contract");
      }
    }
    await this.#deposits.extend(extension, votesFrom);
  }

  /** Checks that blocks and deposits are consecutive and that each deposit belongs to one of the blocks. */
  #assertConsecutive(headers: readonly Eth1Header[], deposits: readonly LoggedDeposit[]): void {
    const { newest, depositCount } = this.#deposits;
    let before = newest && { number: newest.number, hash: hashOf(newest) };
    const hashes = new Map<number, string>();
    for (const { number, hash, parentHash } of headers) {
      if (before?.number === number - 1 && before.hash !== parentHash) throw inconsistentResponse();
      hashes.set(number, hash);
      before = { number, hash };
    }
    for (const [n, { index, blockNumber, blockHash }] of deposits.entries()) {
      if (index !== depositCount + n) throw missingLogs(depositCount + n);
      if ((hashes.get(blockNumber) ?? blockHash) !== blockHash) throw inconsistentResponse();
    }
  }

  /** Rewinds to a canonical block if the newest block was orphaned by a reorg. */
  async #rewindOrphans(node: Eth1Node): Promise<void> {
    const { newest, snapshot, blocks } = this.#deposits;
    if (!newest || (await isOnChain(node, newest))) return;
    const ancestor = await newestOnChain(node, blocks);
    if (ancestor && ancestor.number >= (snapshot?.executionBlockHeight ?? 0)) {
      await this.#deposits.rewindTo(ancestor);
    } else if (snapshot) {
      const { executionBlockHeight: number, executionBlockHash } = snapshot;
      const header = await node.header(number);
      if (header?.hash !== toRootHex(executionBlockHash)) {
        throw new EndpointError(`has another block ${number} than the finalized one: it is on another chain`);
      }
      await this.#deposits.rewindToSnapshot(snapshot, header.timestamp);
    } else {
      await this.#deposits.clear();
    }
    this.#logger.warn("Deposit chain reorg, rereading blocks", {
      orphaned: newest.number,
      from: this.#next,
    });
  }
}

async function isOnChain(node: Eth1Node, block: Eth1Block): Promise<boolean> {
  const header = await node.header(block.number);
  if (header === null) {
    throw new EndpointError(`lacks block ${block.number}, which was read before: it may still be syncing`);
  }
  return header.hash === hashOf(block);
}

/** Returns the newest canonical block. The last of the given blocks is known to be orphaned. */
async function newestOnChain(node: Eth1Node, blocks: readonly Eth1Block[]): Promise<Eth1Block | undefined> {
  let low = -1;
  for (let high = blocks.length - 1; high - low > 1; ) {
    const middle = Math.floor((low + high) / 2);
    if (await isOnChain(node, blocks[middle]!)) low = middle;
    else high = middle;
  }
  return blocks[low];
}

function missingLogs(index: number): EndpointError {
  return new EndpointError(`lacks the log of deposit ${index}: a node with all logs is required`);
}

function inconsistentResponse(): EndpointError {
  return new EndpointError("returns inconsistent blocks and deposits, possibly during a reorg");
}
