import { expect } from "vitest";
import type { CanonicalChain } from "./canonical-chain.ts";
import type { Hex, PoolJson, ReceiptJson, TransactionJson } from "./json.ts";
import { CallError, type TestedChain } from "./tested-chain.ts";

/** An acknowledged transaction. */
export interface SentTransaction {
  hash: Hex;
  from: Hex;
  nonce: bigint;
  /** Highest cost in wei. */
  cost: bigint;
  isBlob: boolean;
  /** Epoch in which it was sent. */
  epoch: number;
}

interface Expectations {
  chain: TestedChain;
  canonical: CanonicalChain;
  /** Epoch of fulu, whose blobs need other proofs. */
  fuluEpoch: number;
  /** Epoch of the next block. */
  nextEpoch: number;
  /** True if the head may be late, so that the execution engine follows its parent. */
  isContested: boolean;
  /** True if the nonce of an account was set, so that it passed nonces without transactions. */
  wasNonceSet(address: Hex): boolean;
}

/** Acknowledged transactions: each is pending, included once, or missing for a known reason. */
export class SentTransactions {
  readonly #sent: Map<Hex, SentTransaction>;
  readonly #dropped: Set<Hex>;

  constructor(sent: ReadonlyMap<Hex, SentTransaction> = new Map(), dropped: ReadonlySet<Hex> = new Set()) {
    this.#sent = new Map(sent);
    this.#dropped = new Set(dropped);
  }

  copy(): SentTransactions {
    return new SentTransactions(this.#sent, this.#dropped);
  }

  get all(): readonly SentTransaction[] {
    return [...this.#sent.values()];
  }

  add(transaction: SentTransaction): void {
    this.#sent.set(transaction.hash, transaction);
  }

  /** Transactions were removed from the pool on request. */
  drop(hashes: readonly Hex[]): void {
    for (const hash of hashes) this.#dropped.add(hash);
  }

  /** Checks where all transactions are. Returns those in the pool. */
  async expectNoneLost({
    chain,
    canonical,
    fuluEpoch,
    nextEpoch,
    isContested,
    wasNonceSet,
  }: Expectations): Promise<TransactionJson[]> {
    const pooled = pooledIn(await chain.call<PoolJson>("txpool_content"));
    const inPool = new Set(pooled.map(({ hash }) => hash));
    const included = new Map<Hex, Hex>();
    const used = new Set<string>();
    for (const { eth } of canonical.blocks) {
      for (const { hash, from, nonce } of eth.transactions) {
        used.add(`${from} ${BigInt(nonce)}`);
        expect(included.has(hash), `${hash} is included in ${included.get(hash)} and ${eth.number}`).toBe(false);
        const mayReturn = isContested && eth === canonical.head?.eth;
        expect(inPool.has(hash) && !mayReturn, `${hash} is included in ${eth.number} and in the pool`).toBe(false);
        included.set(hash, eth.number);
      }
    }
    for (const transaction of pooled) {
      if (!this.#sent.has(transaction.hash)) this.add(sentOf(transaction, nextEpoch));
    }
    for (const transaction of this.#sent.values()) {
      const { hash, from, nonce, cost, isBlob, epoch } = transaction;
      if (inPool.has(hash) || included.has(hash) || this.#dropped.has(hash)) continue;
      if (this.#isReplaced(transaction)) continue;
      if (isBlob && epoch < fuluEpoch && nextEpoch >= fuluEpoch) continue;
      if (used.has(`${from} ${nonce}`)) continue;
      const next = BigInt(await chain.call<Hex>("eth_getTransactionCount", [from, "latest"]));
      if (nonce < next && wasNonceSet(from)) continue;
      if (cost > BigInt(await chain.call<Hex>("eth_getBalance", [from, "latest"]))) {
        // It does not return with the balance.
        this.#dropped.add(hash);
        continue;
      }
      const reason = await this.#reasonOf(chain, hash);
      expect(reason, `${hash} of ${from} with nonce ${nonce} is neither pending nor included`).toBeDefined();
    }
    return pooled;
  }

  /** Reads all transactions of the chain by their hashes. */
  async expectFound(chain: TestedChain, { blocks }: CanonicalChain): Promise<void> {
    for (const { eth, receipts } of blocks) {
      const read = (method: string) => Promise.all(eth.transactions.map(({ hash }) => chain.call(method, [hash])));
      expect(await read("eth_getTransactionReceipt"), `receipts of block ${eth.number}`).toEqual(receipts);
      expect(await read("eth_getTransactionByHash"), `transactions of block ${eth.number}`).toEqual(eth.transactions);
    }
  }

  /** True if a transaction with the same sender and nonce was acknowledged later. */
  #isReplaced({ hash, from, nonce }: SentTransaction): boolean {
    const same = this.all.filter((other) => other.from === from && other.nonce === nonce);
    return same.at(-1)!.hash !== hash;
  }

  async #reasonOf(chain: TestedChain, hash: Hex): Promise<string | undefined> {
    try {
      expect(await chain.call<ReceiptJson | null>("eth_getTransactionReceipt", [hash])).toBeNull();
      return undefined;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return error.message;
    }
  }
}

function pooledIn({ pending, queued }: PoolJson): TransactionJson[] {
  return [pending, queued].flatMap((senders) => Object.values(senders).flatMap((byNonce) => Object.values(byNonce)));
}

function sentOf(transaction: TransactionJson, epoch: number): SentTransaction {
  const { hash, from, nonce, gas, value, gasPrice, maxFeePerGas = gasPrice } = transaction;
  const { maxFeePerBlobGas = 0, blobVersionedHashes = [] } = transaction;
  const blobGas = 131_072n * BigInt(blobVersionedHashes.length);
  return {
    hash,
    from,
    nonce: BigInt(nonce),
    cost: BigInt(gas) * BigInt(maxFeePerGas) + BigInt(value) + blobGas * BigInt(maxFeePerBlobGas),
    isBlob: transaction.type === "0x3",
    epoch,
  };
}
