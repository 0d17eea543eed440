import { isBlob4844Tx } from "@ethereumjs/tx";
import { GAS_PER_BLOB } from "../execution/forks.ts";
import { effectiveTip, maxFeePerGas, maxTipPerGas, type Transaction } from "../execution/transaction.ts";
import type { Sidecar } from "./sidecar.ts";

const BUMP_PERCENT = 10n;
const BLOB_BUMP_PERCENT = 100n;
/** Estimated size of the objects surrounding the bytes. */
const OVERHEAD_BYTES = 1024;

/** A pooled transaction with its sort keys. */
export class PooledTransaction {
  readonly transaction: Transaction;
  readonly sidecar: Sidecar | undefined;
  readonly key: string;
  readonly sender: string;
  readonly nonce: bigint;
  readonly feeCap: bigint;
  readonly tipCap: bigint;
  /** Zero for a transaction without blobs. */
  readonly blobFeeCap: bigint;
  readonly blobCount: number;
  /** Maximum cost to the sender. */
  readonly cost: bigint;
  readonly size: number;
  /** Order of arrival. */
  readonly arrival: number;

  constructor(transaction: Transaction, sidecar: Sidecar | undefined, arrival: number) {
    const { tx, hash, sender, raw } = transaction;
    const blobHashes = isBlob4844Tx(tx) ? tx.blobVersionedHashes : [];
    this.transaction = transaction;
    this.sidecar = sidecar;
    this.key = hashKey(hash);
    this.sender = sender.toString();
    this.nonce = tx.nonce;
    this.feeCap = maxFeePerGas(tx);
    this.tipCap = maxTipPerGas(tx);
    this.blobFeeCap = isBlob4844Tx(tx) ? tx.maxFeePerBlobGas : 0n;
    this.blobCount = blobHashes.length;
    this.cost = tx.value + tx.gasLimit * this.feeCap + BigInt(this.blobCount) * GAS_PER_BLOB * this.blobFeeCap;
    this.size = raw.length + OVERHEAD_BYTES;
    this.arrival = arrival;
  }

  get isBlob(): boolean {
    return this.blobCount > 0;
  }

  /** Returns the tip per gas at the given base fee; undefined if the transaction cannot be included at these fees. */
  tipAt(baseFee: bigint, blobBaseFee: bigint): bigint | undefined {
    if (this.feeCap < baseFee || (this.isBlob && this.blobFeeCap < blobBaseFee)) return undefined;
    return effectiveTip(this.transaction.tx, baseFee);
  }

  /**
   * Returns true if the transaction pays enough to replace another transaction with the same nonce: 10 % more, or 100 %
   * more if it carries blobs.
   */
  canReplace(other: PooledTransaction): boolean {
    const percent = 100n + (this.isBlob || other.isBlob ? BLOB_BUMP_PERCENT : BUMP_PERCENT);
    const isBumped = (price: bigint, previous: bigint) => price * 100n >= previous * percent;
    return (
      isBumped(this.feeCap, other.feeCap) &&
      isBumped(this.tipCap, other.tipCap) &&
      (!other.isBlob || !this.isBlob || isBumped(this.blobFeeCap, other.blobFeeCap))
    );
  }
}

/** Returns the map key for a transaction hash: 0x-prefixed hex. */
export const hashKey = (hash: Uint8Array): string => `0x${Buffer.from(hash).toString("hex")}`;
