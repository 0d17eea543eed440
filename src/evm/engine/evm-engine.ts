import { type ForkPostBellatrix, type ForkPostDeneb, isForkPostDeneb, isForkPostFulu } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type PooledBlob,
  type TerminalBlockVerdict,
} from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import type { Block, ExecutedBlock } from "../execution/block.ts";
import { type BlockAttributes, BlockExecutor, type FaultListener } from "../execution/block-executor.ts";
import { InvalidBlockError } from "../execution/invalid-block.ts";
import { toHex, toPayload } from "../execution/payload.ts";
import type { ChainRules } from "../execution/rules.ts";
import type { Transaction } from "../execution/transaction.ts";
import { ChainOverrides } from "../overrides/chain-overrides.ts";
import type { Change, Override } from "../overrides/override.ts";
import type { PooledTransaction } from "../pool/pooled-transaction.ts";
import { proofsOfBlob, type SidecarKzg } from "../pool/sidecar.ts";
import { type TransactionOrigin, TransactionPool } from "../pool/transaction-pool.ts";
import { BlockBuilder, type BlockPlan, buildPlanned } from "./block-builder.ts";
import { BlockReplay } from "./block-replay.ts";
import { DroppedTransactions } from "./dropped-transactions.ts";
import { EngineHead } from "./engine-head.ts";
import { ExecutedBlocks } from "./executed-blocks.ts";
import { decodeRequests } from "./execution-requests.ts";
import type { PayloadHistory } from "./history.ts";
import type { BlockArchive } from "./storage/block-archive.ts";
import type { EvmStore } from "./storage/evm-store.ts";
import { FinalizedStore } from "./storage/finalized-store.ts";
import { type BaseInterval, StoredBase } from "./storage/stored-base.ts";

interface EvmEngineParts {
  rules: ChainRules;
  genesis: ExecutedBlock;
  secondsPerSlot: number;
  logger: Logger;
  baseInterval?: BaseInterval;
  /** Maximum number of executed blocks in memory. */
  maxBlocks?: number;
}

/** Services provided by the node, which is created after the engine. */
export interface EvmServices {
  history: PayloadHistory;
  store: EvmStore;
  kzg: SidecarKzg;
  /** Returns the payload attributes of the next block; null if the hash is not the head's. */
  proposals?: { next(headBlockHash: RootHex): Promise<BlockAttributes | null> };
}

/** Enough for the accounts and slots of the system contracts and of the most withdrawals, at 2,000 gas each. */
const MIN_AMSTERDAM_GAS_LIMIT = 200_000n;

interface BuildJob {
  request: PayloadRequest;
  parent: ExecutedBlock;
}

/** Plan for the pending block. */
export interface PendingPlan {
  /** Changes whenever the plan changes. */
  key: string;
  /** Omitted if the caller already has this plan. */
  plan?: BlockPlan;
}

const VALID: PayloadVerdict = { status: "valid" };
const OPTIMISTIC: PayloadVerdict = { status: "optimistic" };
/** A proposer fetches its payload within a slot or two. */
const MAX_PENDING_PAYLOADS = 16;

/**
 * Execution engine that runs every payload in an EVM. Keeps executed blocks and the transaction pool in memory. After a
 * restart, rebuilds missing blocks from the payloads of stored beacon blocks.
 */
export class EvmEngine implements ExecutionEngine {
  readonly state = "synced";
  readonly clientVersion = null;
  readonly buildsAtOnce = true;
  readonly executor: BlockExecutor;
  readonly pool: TransactionPool;
  readonly blocks: ExecutedBlocks;
  readonly overrides: ChainOverrides = new ChainOverrides();
  readonly dropped: DroppedTransactions;
  readonly secondsPerSlot: number;
  readonly #head: EngineHead;
  readonly #builder: BlockBuilder;
  readonly #base: StoredBase;
  readonly #replay: BlockReplay;
  readonly #storage: FinalizedStore;
  readonly #jobs = new Map<PayloadId, BuildJob>();
  readonly #transactionListeners = new Set<(pooled: PooledTransaction) => void>();
  /** Counts changes to the next payload, except those caused by a new head. Read by other threads. */
  readonly #revision = sharedCounter();
  /** Counts changes to blocks and to the state visible to reads. Read by other threads. */
  #readRevision: Int32Array = sharedCounter();
  #kzg: SidecarKzg | undefined;
  #proposals: EvmServices["proposals"];
  #payloadIds = 0;

  constructor({ rules, genesis, secondsPerSlot, logger, baseInterval, maxBlocks }: EvmEngineParts) {
    const { overrides } = this;
    const executor = new BlockExecutor(rules);
    const blocks = new ExecutedBlocks(genesis, maxBlocks, () => count(this.#readRevision));
    const kzg: SidecarKzg = {
      verify: (sidecar) => this.#requiredKzg().verify(sidecar),
      upgrade: (sidecar) => this.#requiredKzg().upgrade!(sidecar),
    };
    const pool = new TransactionPool({ rules, kzg }, genesis, Number(genesis.header.timestamp) + secondsPerSlot);
    const head = new EngineHead({ rules, blocks, pool, overrides, secondsPerSlot });
    const base = new StoredBase({ rules, blocks, interval: baseInterval, logger });
    const replay = new BlockReplay({ executor, blocks, overrides, base, secondsPerSlot, logger });
    this.executor = executor;
    this.blocks = blocks;
    this.pool = pool;
    this.secondsPerSlot = secondsPerSlot;
    this.#head = head;
    this.#builder = new BlockBuilder({ executor, blocks, pool, overrides, head });
    this.#base = base;
    this.#replay = replay;
    this.#storage = new FinalizedStore({ rules, blocks, pool, overrides, base, replay, logger });
    this.dropped = new DroppedTransactions({ pool, storage: this.#storage, logger });
  }

  get rules(): ChainRules {
    return this.executor.rules;
  }

  /** Counter of pool changes, in shared memory. */
  get revision(): Int32Array {
    return this.#revision;
  }

  /** Counter of changes visible to reads, in shared memory. */
  get readRevision(): Int32Array {
    return this.#readRevision;
  }

  /** Head block of the pool. */
  get head(): ExecutedBlock {
    return this.#head.block;
  }

  get finalized(): ExecutedBlock {
    return this.#storage.finalized;
  }

  /** Archive of finalized blocks. Undefined until the engine is connected. */
  get archive(): BlockArchive | undefined {
    return this.#storage.archive;
  }

  /**
   * Connects the engine to its node. Before that, the engine knows only genesis and rejects blobs; afterwards,
   * `readRevision` counts the changes visible to reads.
   */
  connect({ history, store, kzg, proposals }: EvmServices, readRevision = this.#readRevision): void {
    this.#readRevision = readRevision;
    this.#kzg = kzg;
    this.#proposals = proposals;
    this.#base.connect(store);
    this.#storage.connect(store);
    this.#replay.connect(history);
    this.overrides.connect(store);
  }

  /** Stops storing the current chain, before the database is switched to another chain. */
  detach(): Promise<void> {
    this.overrides.detach();
    return this.flush();
  }

  /** Rebuilds the head and the pool from the database, after start-up or a switch to another chain. */
  async restore(headBlockHash: RootHex): Promise<void> {
    const head = await this.#replay.find(headBlockHash);
    if (head === undefined) throw this.#replay.failureOf(headBlockHash);
    await this.overrides.load(this.blocks.branchAbove(0n, head));
    this.pool.clear();
    this.#head.moveTo(head);
    await this.#storage.loadJournal();
    this.#stateChanged();
  }

  /**
   * Adds a transaction to the pool and stores it. Throws a `PoolError` if the transaction is rejected. Impersonated
   * transactions are rejected unless their origin is trusted. If storing the transaction fails, removes it from the pool again.
   */
  async addTransaction(encoded: Uint8Array, origin?: TransactionOrigin): Promise<PooledTransaction> {
    const pooled = await this.pool.add(encoded, origin);
    count(this.#revision);
    const { hash } = pooled.transaction;
    this.dropped.forget(hash);
    try {
      await this.#storage.journal?.put(hash, encoded);
    } catch (error) {
      this.pool.drop(hash);
      throw error;
    }
    // Delete the transaction that this one replaced.
    await this.#storage.pruneDiscarded();
    for (const listener of this.#transactionListeners) listener(pooled);
    return pooled;
  }

  /** Calls the listener for each added transaction. Returns a function that unsubscribes. */
  onTransaction(listener: (pooled: PooledTransaction) => void): () => void {
    this.#transactionListeners.add(listener);
    return () => this.#transactionListeners.delete(listener);
  }

  /** Changes the state at the head. The next block applies and records the change. */
  async override(change: Change): Promise<void> {
    this.overrides.add(this.#raised(change));
    this.#stateChanged();
    this.#head.moveTo(this.head);
    await this.overrides.save();
    await this.#storage.pruneDiscarded();
  }

  /** Returns a block's state with the overrides that its child would apply. */
  overridden(block: ExecutedBlock): ExecutedBlock {
    return this.#head.overridden(block);
  }

  /** Returns the overrides that a child of the block would apply. */
  overridesOn(block: ExecutedBlock): readonly Override[] {
    return this.#head.overridesOn(block);
  }

  /** Returns the base fee of a child of the block. */
  nextBaseFee(block: Pick<Block, "header">): bigint {
    return this.#head.nextBaseFee(block);
  }

  /** Yields the pooled transactions that the next block can include, in order of inclusion. */
  executable(): Generator<Transaction> {
    return this.pool.pending(this.nextBaseFee(this.head));
  }

  /** Returns the timestamp of a child of the block. */
  nextTimestamp(block: Pick<Block, "header">): number {
    return this.#head.nextTimestamp(block);
  }

  /** Sets the start of the next slot in Unix seconds. Defaults to the slot after the head. */
  setNextSlot(timestamp = 0): void {
    this.#head.setNextSlot(timestamp);
  }

  /** Returns a function that reverts to the current head and pool. */
  capture(): () => void {
    const { head, finalized } = this;
    const { nextSlotTime } = this.#head;
    const unfinalized = this.blocks.branchAbove(finalized.header.number, head);
    const restorePool = this.pool.capture();
    const restoreStorage = this.#storage.capture();
    const restoreOverrides = this.overrides.capture();
    return () => {
      restoreStorage();
      // The blocks may have been pruned in the meantime.
      for (const block of [finalized, ...unfinalized]) this.blocks.add(block);
      restoreOverrides();
      this.pool.clear();
      this.#head.nextSlotTime = nextSlotTime;
      this.#head.moveTo(head);
      restorePool();
      this.#stateChanged();
      // A pending write may have completed after the database was reverted.
      this.#storage.writeLater(() => this.overrides.save());
    };
  }

  /** Resolves once the states and transactions of finalized blocks are stored. */
  flush(): Promise<void> {
    return this.#storage.flush();
  }

  /** The engine is always synced. */
  onStateChange(): () => void {
    return () => {};
  }

  async notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict> {
    const known = this.blocks.get(toHex(payload.blockHash));
    const parentHash = toHex(payload.parentHash);
    const parentRoot = context.parentBeaconBlockRoot && toHex(context.parentBeaconBlockRoot);
    const parent = known ? undefined : await this.#replay.find(parentHash, parentRoot);
    try {
      if (known) this.#replay.verifySame(known, payload, context);
      else if (parent) await this.#replay.executePayload(parent, { fork, payload, context });
      else return OPTIMISTIC;
      return VALID;
    } catch (error) {
      if (!(error instanceof InvalidBlockError)) throw error;
      return { status: "invalid", latestValidHash: parent || known ? parentHash : null, message: error.message };
    }
  }

  /** If a payload is requested on a block other than the head, leaves the head and the pool unchanged. */
  async forkchoiceUpdated(
    _fork: ForkPostBellatrix,
    { headBlockHash, finalizedBlockHash, isBehind }: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    const root = request && toHex(request.parentBeaconBlockRoot);
    const head = await this.#replay.find(headBlockHash, root);
    if (head === undefined) return { verdict: OPTIMISTIC, payloadId: null };
    const isHead = request === undefined ? !isBehind : head === this.head;
    if (isHead) this.#setHead(head, request?.timestamp);
    this.#storage.finalize(finalizedBlockHash);
    if (request === undefined) return { verdict: VALID, payloadId: null };
    const payloadId = `0x${(this.#payloadIds++).toString(16).padStart(16, "0")}`;
    this.#jobs.set(payloadId, { request, parent: head });
    for (const oldest of this.#jobs.keys()) {
      if (this.#jobs.size <= MAX_PENDING_PAYLOADS) break;
      this.#jobs.delete(oldest);
    }
    return { verdict: VALID, payloadId };
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new PayloadUnavailableError(`Unknown payload id ${id}: the EVM has not built it.`);
    return this.#buildPayload(fork, job);
  }

  /**
   * Builds a payload on top of a block that may become the head. Returns null if the pool is not empty, since a new
   * head would change the pool.
   */
  async buildEmpty(request: PayloadRequest): Promise<BuiltPayload | null> {
    const parent = this.blocks.get(toHex(request.parent.blockHash));
    if (parent === undefined || this.pool.size > 0 || this.overrides.pending.length > 0) return null;
    return this.#buildPayload(request.fork, { request, parent });
  }

  async getBlobs(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]> {
    const version = isForkPostFulu(fork) ? 1 : 0;
    const found = versionedHashes.map((hash): PooledBlob | null => {
      const stored = this.pool.blob(hash);
      if (stored === undefined || stored.sidecar.version !== version) return null;
      const { sidecar, index } = stored;
      return { blob: sidecar.blobs[index]!, proofs: proofsOfBlob(sidecar, index) };
    });
    return version === 1 && found.includes(null) ? found.map(() => null) : found;
  }

  /** Builds the next slot's block from the pool, without storing it. */
  buildPending(parent: ExecutedBlock, attributes = this.#attributesAfter(parent)): Promise<ExecutedBlock> {
    return this.#builder.build(parent, attributes);
  }

  /**
   * Returns the plan for a child of the block, and a key that changes with the plan. Omits the plan if its key equals
   * `known`.
   */
  async pendingPlan(parent: ExecutedBlock, known?: string): Promise<PendingPlan> {
    const proposed = await this.#proposals?.next(toHex(parent.hash));
    const attributes = proposed ?? this.#attributesAfter(parent);
    const revisions = [this.#revision[0], this.pool.revision, toHex(this.head.hash)];
    const key = [toHex(parent.hash), ...revisions, keyOf(attributes)].join();
    return key === known ? { key } : { key, plan: this.#builder.plan(parent, attributes) };
  }

  /** Builds a block from a plan, without storing it. */
  buildPlanned(parent: ExecutedBlock, plan: BlockPlan): Promise<ExecutedBlock> {
    return buildPlanned(this.executor, parent, plan);
  }

  #attributesAfter(parent: ExecutedBlock): BlockAttributes {
    const { prevRandao, feeRecipient } = parent.header;
    return { timestamp: this.nextTimestamp(parent), prevRandao, feeRecipient };
  }

  async terminalBlock(): Promise<ParentPayload> {
    return { blockHash: this.blocks.genesis.hash, blockNumber: 0 };
  }

  async judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    return blockHash === toHex(this.blocks.genesis.hash) ? "terminal" : "not-terminal";
  }

  /** Re-executes a known block. */
  execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#replay.execute(parent, block);
  }

  /** Returns the state before a block's transactions. */
  stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#replay.stateBefore(parent, block);
  }

  /** Returns a function that decodes the stored state if it belongs to the given block. */
  openBase(): Promise<(blockHash: RootHex) => ExecutedBlock | undefined> {
    return this.#base.open();
  }

  #setHead(head: ExecutedBlock, nextTimestamp: number | undefined): void {
    const isChanged = this.#head.follow(head, nextTimestamp);
    this.#storage.writeLater(() => this.#storage.pruneDiscarded());
    if (!isChanged) return;
    count(this.#readRevision);
    this.#storage.writeLater(() => this.overrides.save());
  }

  async #buildPayload(fork: ForkPostBellatrix, { request, parent }: BuildJob): Promise<BuiltPayload> {
    const { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot, fillingMs } = request;
    const { slot: slotNumber, targetGasLimit } = request;
    const attributes: BlockAttributes = {
      ...{ timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot, slotNumber },
      ...(targetGasLimit !== undefined && { desiredGasLimit: BigInt(targetGasLimit) }),
    };
    const onFault: FaultListener = (...fault) => this.dropped.dropUnusable(...fault);
    const block = await this.#builder.build(parent, attributes, { onFault, fillingMs });
    await this.overrides.record(block);
    this.blocks.add(block);
    return {
      payload: toPayload(block),
      value: block.value,
      ...(isForkPostDeneb(fork) && { blobsBundle: this.#builder.blobsOf(block) }),
      ...(block.requests && { executionRequests: decodeRequests(fork, block.requests) }),
    };
  }

  /** Records a change to the next payload and to the state visible to reads. */
  #stateChanged(): void {
    count(this.#revision);
    count(this.#readRevision);
  }

  /** Raises a gas limit that would leave no room for the access lists of Amsterdam (EIP-7928). */
  #raised(change: Change): Change {
    if ("address" in change || change.gasLimit === undefined || change.gasLimit >= MIN_AMSTERDAM_GAS_LIMIT)
      return change;
    const { rules } = this;
    const hasLists = rules.changes.some((time) => rules.at(time).isSince("amsterdam"));
    return hasLists ? { ...change, gasLimit: MIN_AMSTERDAM_GAS_LIMIT } : change;
  }

  #requiredKzg(): SidecarKzg {
    if (this.#kzg === undefined) throw new Error("The EVM engine is not connected to a node yet.");
    return this.#kzg;
  }
}

/** Creates a counter in shared memory. */
const sharedCounter = () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const count = (counter: Int32Array) => void Atomics.add(counter, 0, 1);

function keyOf({ timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot }: BlockAttributes): string {
  const root = parentBeaconBlockRoot && toHex(parentBeaconBlockRoot);
  return [timestamp, toHex(prevRandao), toHex(feeRecipient), root, withdrawals?.map(({ index }) => index)].join();
}
