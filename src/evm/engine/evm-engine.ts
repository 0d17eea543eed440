import { type ForkPostBellatrix, type ForkPostDeneb, isForkPostDeneb, isForkPostFulu } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { SingleFlight } from "../../async/single-flight.ts";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  type PayloadBlobs,
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
import { type BlockAttributes, BlockExecutor } from "../execution/block-executor.ts";
import { blobBaseFee, nextBaseFee } from "../execution/fees.ts";
import { InvalidBlockError } from "../execution/invalid-block.ts";
import { toHex, toPayload } from "../execution/payload.ts";
import type { ChainRules } from "../execution/rules.ts";
import type { Transaction } from "../execution/transaction.ts";
import { ChainOverrides } from "../overrides/chain-overrides.ts";
import { isImpersonated } from "../overrides/impersonation.ts";
import { type Change, headerChange, type Override, overrideWorld } from "../overrides/override.ts";
import type { PooledTransaction } from "../pool/pooled-transaction.ts";
import { proofsOfBlob, type SidecarKzg } from "../pool/sidecar.ts";
import { TransactionPool } from "../pool/transaction-pool.ts";
import { BlockArchive } from "./block-archive.ts";
import { ExecutedBlocks, transactionsLost } from "./executed-blocks.ts";
import { decodeRequests, encodeRequests } from "./execution-requests.ts";
import { type PayloadHistory, rebuild, type StoredPayload } from "./history.ts";
import { type EvmStore, PoolJournal } from "./pool-journal.ts";
import { decodeBase, encodeBase, hashOfBase } from "./stored-world.ts";

interface EvmEngineParts {
  rules: ChainRules;
  genesis: ExecutedBlock;
  secondsPerSlot: number;
  logger: Logger;
  /** Finalized blocks between two stored states. */
  blocksBetweenBases?: number;
}

/** What the engine needs from the node around it, which opens after the engine. */
export interface EvmServices {
  history: PayloadHistory;
  store: EvmStore;
  kzg: SidecarKzg;
}

interface BuildJob {
  request: PayloadRequest;
  parent: ExecutedBlock;
}

const VALID: PayloadVerdict = { status: "valid" };
const OPTIMISTIC: PayloadVerdict = { status: "optimistic" };
const EXTRA_DATA = new TextEncoder().encode("fanal");
/** A proposer fetches its payload within a slot or two. */
const MAX_PENDING_PAYLOADS = 16;
/** Bounds the blocks that a restart executes again. */
const BLOCKS_BETWEEN_BASES = 1024;

/**
 * Execution engine that executes every payload with an EVM. Holds executed blocks and the transaction pool in memory.
 * What is missing after a restart is rebuilt from the payloads of stored beacon blocks.
 */
export class EvmEngine implements ExecutionEngine {
  readonly state = "synced";
  readonly clientVersion = null;
  readonly buildsAtOnce = true;
  readonly executor: BlockExecutor;
  readonly pool: TransactionPool;
  readonly blocks: ExecutedBlocks;
  readonly overrides: ChainOverrides = new ChainOverrides();
  readonly secondsPerSlot: number;
  readonly #blocksBetweenBases: number;
  readonly #logger: Logger;
  readonly #jobs = new Map<PayloadId, BuildJob>();
  readonly #transactionListeners = new Set<(pooled: PooledTransaction) => void>();
  readonly #rebuilding = new SingleFlight<RootHex, ExecutedBlock | undefined>();
  #services: EvmServices | undefined;
  #journal: PoolJournal | undefined;
  #archive: BlockArchive | undefined;
  #head: ExecutedBlock;
  /** The head with the overrides that wait for the next block. */
  #overriddenHead: ExecutedBlock;
  #finalized: ExecutedBlock;
  /** Number of the block whose state is stored. */
  #baseNumber = 0n;
  #storing: Promise<void> = Promise.resolve();
  #payloadIds = 0;

  constructor({ rules, genesis, secondsPerSlot, logger, blocksBetweenBases = BLOCKS_BETWEEN_BASES }: EvmEngineParts) {
    this.executor = new BlockExecutor(rules);
    this.blocks = new ExecutedBlocks(genesis);
    this.#head = genesis;
    this.#overriddenHead = genesis;
    this.#finalized = genesis;
    this.secondsPerSlot = secondsPerSlot;
    this.#blocksBetweenBases = blocksBetweenBases;
    this.#logger = logger;
    const kzg: SidecarKzg = {
      verify: (sidecar) => this.#required().kzg.verify(sidecar),
      upgrade: (sidecar) => this.#required().kzg.upgrade!(sidecar),
    };
    this.pool = new TransactionPool({ rules, kzg }, genesis, this.#nextTimestamp(genesis));
  }

  get rules(): ChainRules {
    return this.executor.rules;
  }

  /** Block that the pool follows. */
  get head(): ExecutedBlock {
    return this.#head;
  }

  get finalized(): ExecutedBlock {
    return this.#finalized;
  }

  /** Finalized blocks. Undefined until the engine is connected. */
  get archive(): BlockArchive | undefined {
    return this.#archive;
  }

  /** Connects the engine to its node. Until then it knows only genesis, and takes no blobs. */
  connect(services: EvmServices): void {
    this.#services = services;
    this.#journal = new PoolJournal(services.store, this.pool);
    this.#archive = new BlockArchive(services.store, this.rules);
    this.overrides.connect(services.store);
  }

  /** Prepares for another chain in the database. Nothing about the present one is stored any more. */
  detach(): Promise<void> {
    this.overrides.detach();
    return this.flush();
  }

  /** Rebuilds the head and the pool from the database, after a start or when another chain was loaded. */
  async restore(headBlockHash: RootHex): Promise<void> {
    const head = await this.#find(headBlockHash);
    if (head === undefined) throw new Error(`Execution block ${headBlockHash} cannot be rebuilt from stored payloads.`);
    await this.overrides.load(this.blocks.branchAbove(0n, head));
    this.pool.clear();
    this.#moveTo(head, this.#nextTimestamp(head), []);
    await this.#journal?.load(this.#transactionsAfter(this.#finalized.header.number));
  }

  /**
   * Adds a transaction to the pool and stores it. Throws a `PoolError` if it is refused, as an impersonated one is unless
   * it is `allowed`. If it cannot be stored, it leaves the pool again.
   */
  async addTransaction(sent: Uint8Array, impersonation?: "allowed"): Promise<PooledTransaction> {
    const pooled = await this.pool.add(sent, impersonation);
    const { hash } = pooled.transaction;
    try {
      await this.#journal?.put(hash, sent);
    } catch (error) {
      this.pool.drop(hash);
      throw error;
    }
    for (const listener of this.#transactionListeners) listener(pooled);
    return pooled;
  }

  /** Calls back for each transaction that is added. Returns a function that ends it. */
  onTransaction(listener: (pooled: PooledTransaction) => void): () => void {
    this.#transactionListeners.add(listener);
    return () => this.#transactionListeners.delete(listener);
  }

  /** Removes transactions from the pool for good. Returns how many there were. */
  async dropTransactions(hashes: readonly Uint8Array[]): Promise<number> {
    const dropped = hashes.filter((hash) => this.pool.drop(hash));
    await this.#journal?.delete(dropped);
    return dropped.length;
  }

  /** Changes the state at the head. The next block applies and records the change. */
  async override(change: Change): Promise<void> {
    this.overrides.add(change);
    this.#moveTo(this.#head, this.#nextTimestamp(this.#head), []);
    await this.overrides.save();
  }

  /** Returns a block with the overrides that its next block would apply. */
  overridden(block: ExecutedBlock): ExecutedBlock {
    if (block === this.#head) return this.#overriddenHead;
    return this.#withOverrides(block, this.overrides.pendingOn(this.blocks.divergence(this.#head, block)));
  }

  /** Base fee of the next block on a block. */
  nextBaseFee({ header }: Pick<Block, "header">): bigint {
    const change = header === this.#head.header ? headerChange(this.overrides.pending) : {};
    return change.baseFeePerGas ?? nextBaseFee(header);
  }

  /** Yields pooled transactions that the next block can include, in the order of inclusion. */
  executable(): Generator<Transaction> {
    return this.pool.pending(this.nextBaseFee(this.#head));
  }

  /** Returns a function that reverts to the present head and pool. */
  capture(): () => void {
    const [head, finalized] = [this.#head, this.#finalized];
    const baseNumber = this.#baseNumber;
    const restorePool = this.pool.capture();
    const restoreJournal = this.#journal?.capture();
    const restoreOverrides = this.overrides.capture();
    return () => {
      this.#finalized = finalized;
      this.#baseNumber = baseNumber;
      // The blocks may have been pruned since.
      this.blocks.add(finalized);
      this.blocks.add(head);
      restoreOverrides();
      this.pool.clear();
      this.#moveTo(head, this.#nextTimestamp(head), []);
      restorePool();
      restoreJournal?.();
      // A write from before may have come after the database went back.
      this.#storeLater(() => this.overrides.save());
    };
  }

  /** Resolves once the states and transactions of finalized blocks are stored. */
  flush(): Promise<void> {
    return this.#storing;
  }

  /** The state never changes. */
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
    const parent = known ? undefined : await this.#find(parentHash, parentRoot);
    try {
      if (known) this.executor.verifySame(known, payload, this.#contextOf(payload, context));
      else if (parent) await this.#execute(parent, { fork, payload, context });
      else return OPTIMISTIC;
      return VALID;
    } catch (error) {
      if (!(error instanceof InvalidBlockError)) throw error;
      return { status: "invalid", latestValidHash: parent || known ? parentHash : null, message: error.message };
    }
  }

  /** A request for a payload on another block than the head leaves the head and the pool where they are. */
  async forkchoiceUpdated(
    _fork: ForkPostBellatrix,
    { headBlockHash, finalizedBlockHash, isBehind }: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    const root = request && toHex(request.parentBeaconBlockRoot);
    const head = await this.#find(headBlockHash, root);
    if (head === undefined) return { verdict: OPTIMISTIC, payloadId: null };
    const isHead = request === undefined ? !isBehind : head === this.#head;
    if (isHead) this.#setHead(head, request?.timestamp ?? this.#nextTimestamp(head));
    this.#finalize(finalizedBlockHash);
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
    const { request, parent } = job;
    const { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot } = request;
    const attributes = { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot };
    const block = await this.#build(parent, attributes);
    await this.overrides.record(block);
    this.blocks.add(block);
    return {
      payload: toPayload(block),
      value: block.value,
      ...(isForkPostDeneb(fork) && { blobsBundle: this.#blobsOf(block) }),
      ...(block.requests && { executionRequests: decodeRequests(block.requests) }),
    };
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

  /** Builds the block of the next slot from the pool, without storing it. */
  buildPending(parent: ExecutedBlock): Promise<ExecutedBlock> {
    const { prevRandao, feeRecipient } = parent.header;
    return this.#build(parent, { timestamp: this.#nextTimestamp(parent), prevRandao, feeRecipient });
  }

  async terminalBlock(): Promise<ParentPayload> {
    return { blockHash: this.blocks.genesis.hash, blockNumber: 0 };
  }

  async judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    return blockHash === toHex(this.blocks.genesis.hash) ? "terminal" : "not-terminal";
  }

  async #build(parent: ExecutedBlock, attributes: BlockAttributes): Promise<ExecutedBlock> {
    const divergence = this.blocks.divergence(this.#head, parent);
    const overrides = this.overrides.pendingOn(divergence);
    const changed = { ...attributes, ...headerChange(overrides), extraData: EXTRA_DATA };
    const { baseFeePerGas, gasLimit, excessBlobGas = 0n } = this.executor.environmentOf(parent, changed);
    const { blobs } = this.rules.at(attributes.timestamp);
    const blobFee = blobs === undefined ? 0n : blobBaseFee(excessBlobGas, blobs);
    const state = this.#withOverrides(parent, overrides);
    // On another branch than that of the head, transactions of the head's branch can be included again.
    const pool =
      parent === this.#head
        ? this.pool
        : this.pool.copyFor(withGasLimit(state, gasLimit), attributes.timestamp, transactionsLost(divergence));
    const block = await this.executor.build(state, changed, this.#candidates(pool, baseFeePerGas, blobFee));
    const isRecorded = overrides.length > 0 || block.transactions.some(({ tx }) => isImpersonated(tx));
    return isRecorded ? { ...block, overrides } : block;
  }

  #withOverrides(parent: ExecutedBlock, overrides: readonly Override[]): ExecutedBlock {
    if (overrides.length === 0) return parent;
    return { ...parent, world: overrideWorld(parent.world, overrides, this.rules.crypto.keccak) };
  }

  /** Without blob transactions whose blobs are gone. */
  *#candidates(pool: TransactionPool, baseFee: bigint, blobFee: bigint): Generator<Transaction> {
    for (const transaction of pool.pending(baseFee, blobFee)) {
      if (transaction.tx.type !== 3 || this.pool.sidecarOf(transaction.hash) !== undefined) yield transaction;
    }
  }

  #blobsOf({ transactions }: ExecutedBlock): PayloadBlobs {
    const sidecars = transactions.filter(({ tx }) => tx.type === 3).map(({ hash }) => this.pool.sidecarOf(hash)!);
    return {
      blobs: sidecars.flatMap(({ blobs }) => blobs),
      commitments: sidecars.flatMap(({ commitments }) => commitments),
      proofs: sidecars.flatMap(({ proofs }) => proofs),
    };
  }

  /** Returns a known block, or rebuilds it from stored payloads. */
  async #find(blockHash: RootHex, beaconRoot?: RootHex): Promise<ExecutedBlock | undefined> {
    const known = this.blocks.get(blockHash);
    if (known !== undefined || this.#services === undefined) return known;
    const { history } = this.#services;
    const root = beaconRoot ?? (await history.rootOf(blockHash));
    if (root === undefined) return undefined;
    return this.#rebuilding.run(blockHash, undefined, async () => {
      const readBase = await this.openBase();
      try {
        return await rebuild(blockHash, root, {
          history,
          find: (hash) => this.blocks.get(hash) ?? readBase(hash),
          execute: (parent, stored) => this.#execute(parent, stored),
        });
      } catch (error) {
        if (!(error instanceof InvalidBlockError)) throw error;
        this.#logger.error("Stored payload failed re-execution", { blockHash, error });
        return undefined;
      }
    });
  }

  async #execute(parent: ExecutedBlock, { payload, context }: StoredPayload): Promise<ExecutedBlock> {
    const overrides = await this.overrides.ofBlock(payload.blockHash);
    const state = this.#withOverrides(parent, overrides ?? []);
    const recorded = overrides && headerChange(overrides);
    const block = await this.executor.verify(state, payload, this.#contextOf(payload, context), recorded);
    const executed = overrides ? { ...block, overrides } : block;
    this.blocks.add(executed);
    return executed;
  }

  /** Executes a known block again. */
  async execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    const overrides = (await this.overrides.ofBlock(block.hash)) ?? [];
    return this.executor.execute(this.#withOverrides(parent, overrides), block, headerChange(overrides));
  }

  /** Returns the state that the transactions of a block were executed on. */
  async stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#withOverrides(parent, (await this.overrides.ofBlock(block.hash)) ?? []);
  }

  /** Leaves out what the fork does not have. */
  #contextOf(
    { timestamp }: ExecutionPayload,
    { parentBeaconBlockRoot, versionedHashes, executionRequests }: PayloadContext,
  ) {
    const rules = this.rules.at(timestamp);
    return {
      ...(rules.isSince("cancun") && { parentBeaconBlockRoot, versionedHashes }),
      ...(rules.isSince("prague") && executionRequests && { requests: encodeRequests(executionRequests) }),
    };
  }

  #setHead(head: ExecutedBlock, nextTimestamp: number): void {
    const divergence = this.blocks.divergence(this.#head, head);
    if (this.overrides.follow(divergence)) this.#storeLater(() => this.overrides.save());
    this.#moveTo(head, nextTimestamp, transactionsLost(divergence));
  }

  #moveTo(head: ExecutedBlock, nextTimestamp: number, returned: readonly Transaction[]): void {
    const { pending } = this.overrides;
    this.#head = head;
    this.#overriddenHead = this.#withOverrides(head, pending);
    const { gasLimit = head.header.gasLimit } = headerChange(pending);
    this.pool.setHead(withGasLimit(this.#overriddenHead, gasLimit), nextTimestamp, returned);
  }

  #nextTimestamp({ header }: ExecutedBlock): number {
    return Number(header.timestamp) + this.secondsPerSlot;
  }

  #finalize(blockHash: RootHex): void {
    const finalized = this.blocks.get(blockHash);
    if (finalized === undefined || finalized === this.#finalized) return;
    const finalBlocks = this.blocks.branchAbove(this.#finalized.header.number, finalized);
    this.#finalized = finalized;
    this.blocks.prune(finalized);
    this.#storeLater(() => this.#store(finalized, finalBlocks));
  }

  #storeLater(write: () => Promise<void>): void {
    this.#storing = this.#storing
      .then(write)
      .catch((error: unknown) => this.#logger.warn("Storing the execution state failed", { error }));
  }

  async #store(finalized: ExecutedBlock, finalBlocks: readonly ExecutedBlock[]): Promise<void> {
    const { number } = finalized.header;
    // The chain may have been reverted meanwhile.
    if (number > this.#finalized.header.number) return;
    await this.#archive?.append(finalBlocks);
    await this.#journal?.prune(this.#transactionsAfter(number));
    if (this.#services === undefined || number < this.#baseNumber + BigInt(this.#blocksBetweenBases)) return;
    await this.#services.store.writeBase(encodeBase(finalized));
    this.#baseNumber = number;
  }

  /** Hashes of the transactions of later blocks, on all branches. */
  #transactionsAfter(number: bigint): Set<RootHex> {
    const hashes = new Set<RootHex>();
    for (const { header, transactions } of this.blocks.all()) {
      if (header.number > number) for (const { hash } of transactions) hashes.add(toHex(hash));
    }
    return hashes;
  }

  /** Returns a function that decodes the stored state if it is that of a block. */
  async openBase(): Promise<(blockHash: RootHex) => ExecutedBlock | undefined> {
    const unreadable = (error: unknown) =>
      this.#logger.warn("Stored execution state unreadable, executing all payloads again", { error });
    const bytes = await this.#services?.store.readBase();
    let hash: RootHex | undefined;
    try {
      hash = bytes ? hashOfBase(bytes) : undefined;
    } catch (error) {
      unreadable(error);
    }
    return (blockHash) => {
      if (blockHash !== hash) return undefined;
      try {
        const block = decodeBase(bytes!, this.rules);
        this.#baseNumber = block.header.number;
        this.blocks.add(block);
        return block;
      } catch (error) {
        unreadable(error);
        return undefined;
      }
    };
  }

  #required(): EvmServices {
    if (this.#services === undefined) throw new Error("The EVM engine is not connected to a node yet.");
    return this.#services;
  }
}

function withGasLimit(block: ExecutedBlock, gasLimit: bigint): ExecutedBlock {
  if (block.header.gasLimit === gasLimit) return block;
  return { ...block, header: { ...block.header, gasLimit } };
}
