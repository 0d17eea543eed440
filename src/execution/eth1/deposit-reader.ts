import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";
import { JsonRpcRefusal } from "../json-rpc-client.ts";
import { type DepositChain, type Eth1Block, hashOf } from "./deposit-chain.ts";
import type { LoggedDeposit } from "./deposit-log.ts";
import { EndpointError, TooMuchError } from "./endpoint-error.ts";
import type { Eth1Header, Eth1Node } from "./eth1-node.ts";

interface ReadingTimes {
  /** Blocks after this time are left for later. */
  until: number;
  /** Blocks from this time on are candidates for votes; of earlier ones only the deposits are of interest. */
  votesFrom: number;
}

/** In how many blocks deposits are looked for at once. */
const FIRST_SPAN = 1000;
const LARGEST_SPAN = 50_000;
const GROWTH = 1.25;
/** The same where the header of every block is needed. */
const LARGEST_SPAN_WITH_HEADERS = 256;

/** Reads blocks and deposits from a node of the deposit chain. */
export class DepositReader {
  readonly #deposits: DepositChain;
  readonly #logger: Logger;
  #span = FIRST_SPAN;

  constructor({ deposits, logger }: { deposits: DepositChain; logger: Logger }) {
    this.#deposits = deposits;
    this.#logger = logger;
  }

  /** Reads on from where it was, as far as the times allow. Rejects with an `EndpointError` when the node is not fit for it. */
  async readFrom(node: Eth1Node, { until, votesFrom }: ReadingTimes): Promise<void> {
    await this.#leaveOrphans(node);
    const lastWithoutVotes = await this.#lastBlockAt(node, Math.min(until, votesFrom));
    if (lastWithoutVotes !== null) await this.#readTo(node, lastWithoutVotes, { withHeaders: false, votesFrom });
    const last = await this.#lastBlockAt(node, until);
    if (last !== null) await this.#readTo(node, last, { withHeaders: true, votesFrom });
  }

  get #next(): number {
    return (this.#deposits.newest?.number ?? -1) + 1;
  }

  /** The last block that is not of after a time; null when it was read before. */
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

  /** Asks for less at once when the node finds it too much, and for more when it does not. */
  async #readTo(node: Eth1Node, last: number, how: { withHeaders: boolean; votesFrom: number }): Promise<void> {
    const largest = how.withHeaders ? LARGEST_SPAN_WITH_HEADERS : LARGEST_SPAN;
    while (this.#next <= last) {
      const span = Math.min(this.#span, largest, last - this.#next + 1);
      try {
        await this.#readRange(node, this.#next, this.#next + span - 1, how);
        this.#span = Math.min(LARGEST_SPAN, Math.max(this.#span, Math.ceil(span * GROWTH)));
      } catch (error) {
        const isTooMuch = error instanceof JsonRpcRefusal || error instanceof TooMuchError;
        if (!isTooMuch || span === 1) throw error;
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
    const [headers, found] = await Promise.all([node.headers(withHeaders ? from : to, to), node.deposits(from, to)]);
    this.#requireInOrder(headers, found);
    const extension = this.#deposits.extension(headers, found);
    const contract = await node.contractState(to);
    if (contract) {
      const { tree } = extension;
      if (contract.depositCount !== tree.count) throw lacksLogs(tree.count);
      if (!byteArrayEquals(contract.depositRoot, tree.root)) {
        throw new EndpointError("gives logs of deposits that do not lead to the root which the deposit contract has");
      }
    }
    await this.#deposits.extend(extension, votesFrom);
  }

  /** Blocks have to follow each other, deposits too, and each deposit has to be of one of the blocks. */
  #requireInOrder(headers: readonly Eth1Header[], found: readonly LoggedDeposit[]): void {
    const { newest, depositCount } = this.#deposits;
    let before = newest && { number: newest.number, hash: hashOf(newest) };
    const hashes = new Map<number, string>();
    for (const { number, hash, parentHash } of headers) {
      if (before?.number === number - 1 && before.hash !== parentHash) throw changesItsMind();
      hashes.set(number, hash);
      before = { number, hash };
    }
    for (const [n, { index, blockNumber, blockHash }] of found.entries()) {
      if (index !== depositCount + n) throw lacksLogs(depositCount + n);
      if ((hashes.get(blockNumber) ?? blockHash) !== blockHash) throw changesItsMind();
    }
  }

  /** When the newest block that was read is not on the chain any more, goes back to one that is. */
  async #leaveOrphans(node: Eth1Node): Promise<void> {
    const { newest, snapshot, blocks } = this.#deposits;
    if (!newest || (await isOnChain(node, newest))) return;
    const ancestor = await newestOnChain(node, blocks);
    if (ancestor && ancestor.number >= (snapshot?.executionBlockHeight ?? 0)) {
      await this.#deposits.rewindTo(ancestor);
    } else if (snapshot) {
      const { executionBlockHeight: number, executionBlockHash } = snapshot;
      const header = await node.header(number);
      if (header?.hash !== toRootHex(executionBlockHash)) {
        throw new EndpointError(
          `has another block ${number} than the one that the beacon chain has finalized: it is not of the chain that was followed before`,
        );
      }
      await this.#deposits.rewindToSnapshot(snapshot, header.timestamp);
    } else {
      await this.#deposits.clear();
    }
    this.#logger.warn("The deposit chain has left blocks that votes were for: those that took their place are read", {
      left: newest.number,
      from: this.#next,
    });
  }
}

async function isOnChain(node: Eth1Node, block: Eth1Block): Promise<boolean> {
  const header = await node.header(block.number);
  if (header === null) {
    throw new EndpointError(`does not have block ${block.number}, which was read before: it may have to sync first`);
  }
  return header.hash === hashOf(block);
}

/** Of blocks whose last is not on the chain. */
async function newestOnChain(node: Eth1Node, blocks: readonly Eth1Block[]): Promise<Eth1Block | undefined> {
  let low = -1;
  for (let high = blocks.length - 1; high - low > 1; ) {
    const middle = Math.floor((low + high) / 2);
    if (await isOnChain(node, blocks[middle]!)) low = middle;
    else high = middle;
  }
  return blocks[low];
}

function lacksLogs(index: number): EndpointError {
  return new EndpointError(`does not have the log of deposit ${index}, as one that keeps the logs of all blocks would`);
}

function changesItsMind(): EndpointError {
  return new EndpointError("gives blocks and deposits that do not fit each other, as in a reorganization");
}
