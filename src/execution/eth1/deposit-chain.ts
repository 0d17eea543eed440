import { ContainerType, type ValueOf } from "@chainsafe/ssz";
import { type phase0, type RootHex, ssz } from "@lodestar/types";
import { byteArrayEquals, fromHex, toRootHex } from "@lodestar/utils";
import type { Eth1Repository } from "../../db/repositories/eth1-repository.ts";
import type { LoggedDeposit } from "./deposit-log.ts";
import { type DepositTreeSnapshot, DepositTreeSnapshotType } from "./deposit-snapshot.ts";
import { DepositTree } from "./deposit-tree.ts";
import type { Eth1Header } from "./eth1-node.ts";

const Eth1BlockType = new ContainerType({
  number: ssz.UintNum64,
  hash: ssz.Root,
  timestamp: ssz.UintNum64,
  /** Deposit counts before and after the block. */
  depositsBefore: ssz.UintNum64,
  depositCount: ssz.UintNum64,
  depositRoot: ssz.Root,
});

/** A block of the deposit chain with the state of the deposit contract after that block. */
export type Eth1Block = ValueOf<typeof Eth1BlockType>;

const StoredDepositType = new ContainerType({
  blockNumber: ssz.UintNum64,
  dataRoot: ssz.Root,
  data: ssz.phase0.DepositData,
});

/** Blocks and deposits to append, not stored yet. */
interface Extension {
  /** Never empty. */
  blocks: Eth1Block[];
  deposits: LoggedDeposit[];
  dataRoots: Uint8Array[];
  tree: DepositTree;
}

/** Deposits required for a block are unavailable. The message is a complete sentence stating the reason. */
export class DepositsUnavailableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DepositsUnavailableError";
  }
}

/**
 * State of the deposit chain, mirrored in the database: unfinalized deposits, and candidate blocks for eth1 votes. The
 * newest block marks how far the chain has been read. The caller must serialize updates.
 */
export class DepositChain {
  readonly #repository: Eth1Repository;
  #tree = DepositTree.empty();
  #blocks: Eth1Block[] = [];
  #snapshot: DepositTreeSnapshot | null = null;
  /** Deposits before this index are no longer stored. */
  #storedFrom = 0;

  static async open(repository: Eth1Repository): Promise<DepositChain> {
    const chain = new DepositChain(repository);
    await chain.#load();
    return chain;
  }

  private constructor(repository: Eth1Repository) {
    this.#repository = repository;
  }

  /** Returns the state for `restore`. The returned state is immutable. */
  capture() {
    return { tree: this.#tree, blocks: this.#blocks, snapshot: this.#snapshot, storedFrom: this.#storedFrom };
  }

  /** Restores a captured state. The database must already be at that state. */
  restore({ tree, blocks, snapshot, storedFrom }: ReturnType<DepositChain["capture"]>): void {
    this.#tree = tree;
    this.#blocks = blocks;
    this.#snapshot = snapshot;
    this.#storedFrom = storedFrom;
  }

  /** Oldest first. */
  get blocks(): readonly Eth1Block[] {
    return this.#blocks;
  }

  /** The block up to which the chain has been read. */
  get newest(): Eth1Block | undefined {
    return this.#blocks.at(-1);
  }

  get depositCount(): number {
    return this.#tree.count;
  }

  /** Snapshot at the newest finalized eth1 block, or null if there is none. */
  get snapshot(): DepositTreeSnapshot | null {
    return this.#snapshot;
  }

  /** Returns the candidate blocks with their deposits. */
  async blocksWithDeposits(): Promise<{ block: Eth1Block; deposits: phase0.DepositData[] }[]> {
    const blocks = this.#blocks;
    const first = blocks[0]?.depositsBefore ?? 0;
    const all = await this.#depositData(first, this.#tree.count);
    return blocks.map((block) => ({
      block,
      deposits: all.slice(block.depositsBefore - first, block.depositCount - first),
    }));
  }

  /** Returns deposits with proofs against the given eth1 data. */
  async provenDeposits(eth1Data: phase0.Eth1Data, from: number, count: number): Promise<phase0.Deposit[]> {
    const fullTree = this.#tree;
    if (eth1Data.depositCount > fullTree.count) {
      throw new DepositsUnavailableError(
        `The next block must include ${count} deposits from index ${from}, but this node knows only ${fullTree.count}.`,
      );
    }
    const tree = fullTree.upTo(Number(eth1Data.depositCount));
    if (!byteArrayEquals(tree.root, eth1Data.depositRoot)) {
      throw new DepositsUnavailableError(
        `The next block must include ${count} deposits, but the known deposits do not match the deposit root of the chain.`,
      );
    }
    const data = await this.#depositData(from, from + count);
    return data.map((each, n) => ({ proof: tree.proof(from + n), data: each }));
  }

  /**
   * Computes how these blocks and deposits extend the chain. The deposits from the newest block to the last header must
   * be complete.
   */
  extension(headers: readonly Eth1Header[], deposits: LoggedDeposit[]): Extension {
    const { count } = this.#tree;
    const dataRoots = deposits.map(({ data }) => ssz.phase0.DepositData.hashTreeRoot(data));
    const tree = this.#tree.with(dataRoots);
    let included = 0;
    const blocks = headers.map(({ number, hash, timestamp }) => {
      while (included < deposits.length && deposits[included]!.blockNumber < number) included++;
      const depositsBefore = count + included;
      while (included < deposits.length && deposits[included]!.blockNumber === number) included++;
      const depositCount = count + included;
      const depositRoot = tree.upTo(depositCount).root;
      return { number, hash: fromHex(hash), timestamp, depositsBefore, depositCount, depositRoot };
    });
    return { blocks, deposits, dataRoots, tree };
  }

  /** Appends the extension. Drops blocks before the given time, except for the newest. */
  async extend({ blocks, deposits, dataRoots, tree }: Extension, dropBefore: number): Promise<void> {
    const all = [...this.#blocks, ...blocks];
    const oldest = all.findIndex(({ timestamp }, n) => timestamp >= dropBefore || n === all.length - 1);
    const remaining = all.slice(oldest);
    const storedFrom = Math.min(remaining[0]!.depositsBefore, this.#snapshot?.depositCount ?? 0);
    await this.#repository.write({
      blocks: new Map(blocks.map((block) => [block.number, Eth1BlockType.serialize(block)])),
      deposits: new Map(
        deposits.map(({ index, data, blockNumber }, n) => [
          index,
          StoredDepositType.serialize({ blockNumber, dataRoot: dataRoots[n]!, data }),
        ]),
      ),
      dropBlocks: oldest > 0 ? { before: remaining[0]!.number } : {},
      dropDeposits: storedFrom > this.#storedFrom ? { before: storedFrom } : {},
    });
    this.#tree = tree;
    this.#blocks = remaining;
    this.#storedFrom = Math.max(this.#storedFrom, storedFrom);
  }

  /** Drops everything after a given block. */
  async rewindTo({ number, depositCount }: Eth1Block): Promise<void> {
    await this.#repository.write({ dropBlocks: { from: number + 1 }, dropDeposits: { from: depositCount } });
    this.#blocks = this.#blocks.filter((block) => block.number <= number);
    this.#tree = this.#tree.upTo(depositCount);
  }

  /** Drops everything that has not been finalized. `timestamp` is the timestamp of the snapshot's block. */
  async rewindToSnapshot(snapshot: DepositTreeSnapshot, timestamp: number): Promise<void> {
    const { depositCount, depositRoot, executionBlockHash: hash, executionBlockHeight: number } = snapshot;
    const block: Eth1Block = { number, hash, timestamp, depositsBefore: depositCount, depositCount, depositRoot };
    await this.#repository.write({
      blocks: new Map([[number, Eth1BlockType.serialize(block)]]),
      dropBlocks: { from: 0 },
      dropDeposits: { from: 0 },
    });
    this.#blocks = [block];
    this.#tree = DepositTree.fromFinalized(snapshot.finalized, depositCount);
    this.#storedFrom = depositCount;
  }

  /** Drops everything. */
  async clear(): Promise<void> {
    await this.#repository.write({ dropBlocks: { from: 0 }, dropDeposits: { from: 0 } });
    this.#blocks = [];
    this.#tree = DepositTree.empty();
    this.#storedFrom = 0;
  }

  /** Finalizes a block with all its deposits, which no longer need proofs. */
  async finalize({ blockHash, depositRoot, depositCount }: phase0.Eth1Data): Promise<void> {
    const block = this.#blocks.find(({ hash }) => byteArrayEquals(hash, blockHash));
    const before = this.#snapshot;
    if (!block || BigInt(block.depositCount) !== depositCount || !byteArrayEquals(block.depositRoot, depositRoot))
      return;
    if (before && before.executionBlockHeight >= block.number) return;
    const snapshot: DepositTreeSnapshot = {
      finalized: this.#tree.finalizedRoots(block.depositCount),
      depositRoot,
      depositCount: block.depositCount,
      executionBlockHash: blockHash,
      executionBlockHeight: block.number,
    };
    await this.#repository.write({ snapshot: DepositTreeSnapshotType.serialize(snapshot) });
    this.#snapshot = snapshot;
    this.#tree = this.#tree.finalized(block.depositCount);
  }

  async #load(): Promise<void> {
    const encodedSnapshot = await this.#repository.snapshot();
    this.#snapshot = encodedSnapshot && DepositTreeSnapshotType.deserialize(encodedSnapshot);
    const { finalized = [], depositCount = 0 } = this.#snapshot ?? {};
    const dataRoots: Uint8Array[] = [];
    for await (const [, value] of this.#repository.deposits(depositCount, Number.MAX_SAFE_INTEGER)) {
      dataRoots.push(StoredDepositType.deserialize(value).dataRoot);
    }
    this.#tree = DepositTree.fromFinalized(finalized, depositCount).with(dataRoots);
    this.#blocks = (await this.#repository.blocks()).map((value) => Eth1BlockType.deserialize(value));
  }

  async #depositData(from: number, before: number): Promise<phase0.DepositData[]> {
    const deposits: phase0.DepositData[] = [];
    for await (const [index, value] of this.#repository.deposits(from, before)) {
      if (index !== from + deposits.length) break;
      deposits.push(StoredDepositType.deserialize(value).data);
    }
    if (from + deposits.length < before) {
      throw new DepositsUnavailableError(`Deposits ${from + deposits.length} to ${before - 1} are no longer stored.`);
    }
    return deposits;
  }
}

export function hashOf({ hash }: Eth1Block): RootHex {
  return toRootHex(hash);
}
