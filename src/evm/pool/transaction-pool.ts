import type { Address } from "@ethereumjs/util";
import type { ExecutedBlock } from "../execution/block.ts";
import type { ChainRules, ForkRules } from "../execution/rules.ts";
import { type Transaction, withRules } from "../execution/transaction.ts";
import { isImpersonated } from "../overrides/impersonation.ts";
import { type AccountRecord, type World, WorldReader } from "../state/world.ts";
import { BlobStore, type StoredBlob } from "./blob-store.ts";
import { PoolError } from "./pool-error.ts";
import { hashKey, PooledTransaction } from "./pooled-transaction.ts";
import { byTip } from "./price-heap.ts";
import { SenderQueue } from "./sender-queue.ts";
import { joinSidecar, type Sidecar, type SidecarKzg } from "./sidecar.ts";
import { checkSidecar, checkTransaction, decodeWithSidecar, sidecarVersion } from "./validation.ts";

export interface PoolLimits {
  transactions: number;
  perSender: number;
  /** Total size of transactions, without blobs. */
  bytes: number;
  /** Number of blobs in pooled transactions. */
  blobs: number;
  /** Number of blobs in recently included transactions. */
  includedBlobs: number;
  /** Minimum tip in wei per gas. */
  minTip: bigint;
}

export const DEFAULT_LIMITS: PoolLimits = {
  transactions: 10_000,
  perSender: 2_000,
  bytes: 64 * 1024 * 1024,
  blobs: 256,
  includedBlobs: 256,
  minTip: 0n,
};

interface PoolOptions {
  rules: ChainRules;
  kzg: SidecarKzg;
  limits?: Partial<PoolLimits>;
}

/** What the caller of the pool knows of a transaction. */
export interface TransactionOrigin {
  /** True for transactions of this node, which may be impersonated. */
  isTrusted?: boolean;
  /** Sender whose key has just signed the transaction, which need not be recovered. */
  sender?: Address;
}

/** Transactions from one sender: executable transactions, and transactions queued behind a nonce gap. */
export interface SenderContent {
  pending: readonly PooledTransaction[];
  queued: readonly PooledTransaction[];
}

/**
 * Transaction pool. Accepts transactions that can be executed on the head, either immediately or once a nonce gap is
 * filled. The pool must be notified of every new head.
 */
export class TransactionPool {
  readonly #rules: ChainRules;
  readonly #kzg: SidecarKzg;
  readonly #limits: PoolLimits;
  readonly #reader: WorldReader;
  readonly #blobs: BlobStore;
  readonly #transactions = new Map<string, PooledTransaction>();
  readonly #senders = new Map<string, SenderQueue>();
  #world: World;
  #gasLimit: bigint;
  #fork: ForkRules;
  #bytes = 0;
  #arrivals = 0;
  #revision = 0;
  #discards = 0;

  /** `nextTimestamp` is the timestamp of the next block, which determines the fork and its rules. */
  constructor({ rules, kzg, limits }: PoolOptions, head: ExecutedBlock, nextTimestamp: number) {
    this.#rules = rules;
    this.#kzg = kzg;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#reader = new WorldReader(rules.crypto.keccak);
    this.#blobs = new BlobStore(this.#limits.includedBlobs);
    this.#world = head.world;
    this.#gasLimit = head.header.gasLimit;
    this.#fork = rules.at(nextTimestamp);
  }

  get size(): number {
    return this.#transactions.size;
  }

  /** Increases with every change to the head or the transactions. */
  get revision(): number {
    return this.#revision;
  }

  /** Counts transactions that have left the pool without being included in a block. */
  get discards(): number {
    return this.#discards;
  }

  /**
   * Adds a network-encoded transaction. Throws a `PoolError` if the transaction is rejected. Impersonated transactions
   * are rejected unless their origin is trusted.
   */
  async add(encoded: Uint8Array, { isTrusted = false, sender }: TransactionOrigin = {}): Promise<PooledTransaction> {
    const { transaction, sidecar } = decodeWithSidecar(encoded, this.#fork, sender);
    if (!isTrusted && isImpersonated(transaction.tx)) throw new PoolError("invalidSender");
    const key = hashKey(transaction.hash);
    if (this.#transactions.has(key)) throw new PoolError("alreadyKnown");
    this.#check(transaction);
    const checkedSidecar =
      sidecar === undefined && transaction.tx.type !== 3
        ? undefined
        : await checkSidecar(transaction, sidecar, this.#fork, this.#kzg);
    // The head may have changed in the meantime.
    return this.#insert(withRules(transaction, this.#fork), checkedSidecar);
  }

  /**
   * Keeps the blobs of an included transaction, since a reorg may return the transaction to the pool. Returns the
   * transaction hash, or undefined if the transaction is not included or has no blobs.
   */
  async addIncluded(encoded: Uint8Array, included: ReadonlySet<string>): Promise<string | undefined> {
    const { transaction, sidecar } = decodeWithSidecar(encoded, this.#fork);
    const key = hashKey(transaction.hash);
    if (sidecar === undefined || !included.has(key)) return undefined;
    this.#blobs.add(key, (await checkSidecar(transaction, sidecar, this.#fork, this.#kzg))!);
    this.#blobs.markIncluded(key);
    return key;
  }

  get(hash: Uint8Array): PooledTransaction | undefined {
    return this.#transactions.get(hashKey(hash));
  }

  /** Removes a transaction. Later transactions from the same sender are queued until the nonce gap is filled. */
  drop(hash: Uint8Array): boolean {
    const found = this.get(hash);
    if (found !== undefined) this.#remove(found);
    return found !== undefined;
  }

  /** Removes all transactions. Keeps their blobs for a while, in case a block on another branch includes them. */
  clear(): void {
    for (const transaction of [...this.#transactions.values()]) this.#remove(transaction, true);
  }

  /** Returns the nonce after the sender's last executable transaction. */
  nextNonce(address: Uint8Array): bigint {
    const nonce = this.#reader.account(this.#world, address)?.nonce ?? 0n;
    const queue = this.#senders.get(hashKey(address));
    return nonce + BigInt(queue?.executableFrom(nonce) ?? 0);
  }

  /** Yields executable transactions by descending tip. Transactions from the same sender are ordered by nonce. */
  *pending(baseFee: bigint, blobBaseFee = 0n): Generator<Transaction> {
    const sequences = [...this.#senders].map(([sender, queue]) => this.#split(sender, queue).pending);
    for (const { transaction } of byTip(sequences, baseFee, blobBaseFee)) yield transaction;
  }

  /** Returns all transactions, grouped by sender, for txpool_content. */
  content(): Map<string, SenderContent> {
    return new Map([...this.#senders].map(([sender, queue]) => [sender, this.#split(sender, queue)]));
  }

  counts(): { pending: number; queued: number } {
    let pending = 0;
    for (const [sender, queue] of this.#senders) pending += this.#split(sender, queue).pending.length;
    return { pending, queued: this.size - pending };
  }

  /** Returns the sidecar of a pooled or recently included transaction. */
  sidecarOf(hash: Uint8Array): Sidecar | undefined {
    return this.#blobs.sidecar(hashKey(hash));
  }

  blob(versionedHash: Uint8Array): StoredBlob | undefined {
    return this.#blobs.blob(versionedHash);
  }

  /** Returns the network encoding of all transactions for storage, oldest first. `add` restores them. */
  encode(): Uint8Array[] {
    return this.#byArrival().map(({ transaction: { raw }, sidecar }) =>
      joinSidecar({ raw, ...(sidecar && { sidecar }) }),
    );
  }

  /**
   * Updates the pool for a new head: removes included and invalid transactions, and restores transactions from reorged
   * blocks.
   */
  setHead(head: ExecutedBlock, nextTimestamp: number, returned: readonly Transaction[] = []): void {
    const fork = this.#rules.at(nextTimestamp);
    const isNewFork = fork !== this.#fork;
    this.#world = head.world;
    this.#gasLimit = head.header.gasLimit;
    this.#fork = fork;
    this.#revision++;
    for (const transaction of returned) this.#insertIfValid(transaction, this.sidecarOf(transaction.hash));
    for (const [sender, queue] of this.#senders) this.#review(sender, queue, isNewFork);
  }

  /** Returns a copy of the pool for another head block. */
  copyFor(head: ExecutedBlock, nextTimestamp: number, returned: readonly Transaction[]): TransactionPool {
    const copy = new TransactionPool({ rules: this.#rules, kzg: this.#kzg, limits: this.#limits }, head, nextTimestamp);
    for (const transaction of returned) copy.#insertIfValid(transaction, this.sidecarOf(transaction.hash));
    for (const { transaction, sidecar } of this.#byArrival()) copy.#insertIfValid(transaction, sidecar);
    return copy;
  }

  /** Returns a function that restores the current transactions after the pool has been cleared. */
  capture(): () => void {
    const pooled = this.#byArrival();
    return () => {
      for (const { transaction, sidecar } of pooled) this.#insertIfValid(transaction, sidecar);
    };
  }

  #byArrival(): PooledTransaction[] {
    return [...this.#transactions.values()].sort((one, other) => one.arrival - other.arrival);
  }

  /**
   * Adds a transaction. Drops the transaction if it is invalid at the head, or if its blobs are missing or have another
   * fork's proofs.
   */
  #insertIfValid(transaction: Transaction, sidecar: Sidecar | undefined): void {
    if (transaction.tx.type === 3 && sidecar?.version !== sidecarVersion(this.#fork)) return;
    try {
      this.#insert(withRules(transaction, this.#fork), sidecar);
    } catch {
      // Drop the transaction. This also happens if the fork does not support the transaction type.
    }
  }

  #review(sender: string, queue: SenderQueue, isNewFork: boolean): void {
    const account = this.#accountOf(sender);
    for (const pooled of [...queue.all()]) {
      if (pooled.nonce < (account?.nonce ?? 0n)) this.#remove(pooled, true);
      else if (pooled.cost > (account?.balance ?? 0n)) this.#remove(pooled);
      else if (isNewFork && !this.#isValidInFork(pooled, account)) this.#remove(pooled);
    }
  }

  #isValidInFork({ transaction, sidecar }: PooledTransaction, account: AccountRecord | undefined): boolean {
    if (sidecar !== undefined && sidecar.version !== sidecarVersion(this.#fork)) return false;
    try {
      checkTransaction(withRules(transaction, this.#fork), { rules: this.#fork, gasLimit: this.#gasLimit }, account);
      return true;
    } catch {
      return false;
    }
  }

  #check(transaction: Transaction): void {
    const account = this.#reader.account(this.#world, transaction.sender.bytes);
    checkTransaction(transaction, { rules: this.#fork, gasLimit: this.#gasLimit }, account);
  }

  #insert(transaction: Transaction, sidecar: Sidecar | undefined): PooledTransaction {
    const pooled = new PooledTransaction(transaction, sidecar, this.#arrivals++);
    if (this.#transactions.has(pooled.key)) throw new PoolError("alreadyKnown");
    this.#check(transaction);
    if (pooled.tipCap < this.#limits.minTip) {
      throw new PoolError("underpriced", `gas tip cap ${pooled.tipCap}, minimum needed ${this.#limits.minTip}`);
    }
    const queue = this.#senders.get(pooled.sender) ?? new SenderQueue();
    const replaced = queue.at(pooled.nonce);
    this.#checkQueue(pooled, queue, replaced);
    if (replaced !== undefined) this.#remove(replaced);
    this.#senders.set(pooled.sender, queue);
    queue.put(pooled);
    this.#transactions.set(pooled.key, pooled);
    this.#revision++;
    this.#bytes += pooled.size;
    if (sidecar !== undefined) this.#blobs.add(pooled.key, sidecar);
    this.#enforceLimits(pooled);
    return pooled;
  }

  #checkQueue(pooled: PooledTransaction, queue: SenderQueue, replaced: PooledTransaction | undefined): void {
    const account = this.#accountOf(pooled.sender);
    const balance = account?.balance ?? 0n;
    const others = queue.cost - (replaced?.cost ?? 0n);
    if (balance < others + pooled.cost) {
      const overshot = others + pooled.cost - balance;
      const queuedText = others > 0n ? `queued cost ${others}, ` : "";
      throw new PoolError(
        "insufficientFunds",
        `balance ${balance}, ${queuedText}tx cost ${pooled.cost}, overshot ${overshot}`,
      );
    }
    if (replaced !== undefined) {
      if (pooled.canReplace(replaced)) return;
      throw new PoolError(
        "replacementUnderpriced",
        `new tx gas fee cap ${pooled.feeCap}, tip cap ${pooled.tipCap}; queued ${replaced.feeCap}, ${replaced.tipCap}`,
      );
    }
    const nonce = account?.nonce ?? 0n;
    const next = nonce + BigInt(queue.executableFrom(nonce));
    if (pooled.isBlob && pooled.nonce > next) {
      throw new PoolError("nonceTooHigh", `tx nonce ${pooled.nonce}, gapped nonce ${next}`);
    }
    if (queue.size >= this.#limits.perSender) throw new PoolError("accountLimit", `pooled ${queue.size} txs`);
  }

  /** Evicts the cheapest transactions. Throws if the added transaction is among them. */
  #enforceLimits(added: PooledTransaction): void {
    const { transactions, bytes, blobs } = this.#limits;
    while (this.size > transactions || this.#bytes > bytes || this.#blobs.pooledBlobs > blobs) {
      const victim = this.#cheapest(this.#blobs.pooledBlobs > blobs) ?? added;
      const isAdded = victim === added || (victim.sender === added.sender && victim.nonce < added.nonce);
      this.#remove(isAdded ? added : victim);
      if (isAdded) throw new PoolError(this.size === 0 ? "poolFull" : "underpriced", `pool is full, ${this.size} txs`);
    }
  }

  /**
   * Returns the next transaction to evict. Always chooses a sender's last transaction, so that no nonce gap opens.
   * Prefers transactions behind a nonce gap, then the lowest tip.
   */
  #cheapest(isBlobWanted: boolean): PooledTransaction | undefined {
    let cheapest: PooledTransaction | undefined;
    let isCheapestQueued = false;
    for (const [sender, queue] of this.#senders) {
      const { last } = queue;
      if (last === undefined || (isBlobWanted && !last.isBlob)) continue;
      const isQueued = queue.executableFrom(this.#accountOf(sender)?.nonce ?? 0n) < queue.size;
      const isCheaper =
        cheapest === undefined ||
        (isQueued === isCheapestQueued ? isCheaperThan(last, cheapest) : isQueued && !isCheapestQueued);
      if (!isCheaper) continue;
      cheapest = last;
      isCheapestQueued = isQueued;
    }
    return cheapest;
  }

  #remove(pooled: PooledTransaction, isIncluded = false): void {
    this.#transactions.delete(pooled.key);
    this.#revision++;
    this.#bytes -= pooled.size;
    if (isIncluded) {
      this.#blobs.markIncluded(pooled.key);
    } else {
      this.#blobs.delete(pooled.key);
      this.#discards++;
    }
    const queue = this.#senders.get(pooled.sender);
    queue?.delete(pooled);
    if (queue?.size === 0) this.#senders.delete(pooled.sender);
  }

  #split(sender: string, queue: SenderQueue): SenderContent {
    const all = queue.all();
    const count = queue.executableFrom(this.#accountOf(sender)?.nonce ?? 0n);
    return { pending: all.slice(0, count), queued: all.slice(count) };
  }

  #accountOf(sender: string): AccountRecord | undefined {
    return this.#reader.account(this.#world, new Uint8Array(Buffer.from(sender.slice(2), "hex")));
  }
}

function isCheaperThan(one: PooledTransaction, other: PooledTransaction): boolean {
  if (one.tipCap !== other.tipCap) return one.tipCap < other.tipCap;
  if (one.feeCap !== other.feeCap) return one.feeCap < other.feeCap;
  return one.arrival > other.arrival;
}
