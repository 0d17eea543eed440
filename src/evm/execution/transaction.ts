import { Capability, createTxFromRLP, isBlob4844Tx, type TypedTransaction } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import { impersonatedSender } from "../overrides/impersonation.ts";
import type { ForkRules } from "./rules.ts";

/** A signed transaction as included in blocks, without blobs. */
export interface Transaction {
  readonly raw: Uint8Array;
  readonly hash: Uint8Array;
  readonly sender: Address;
  /** Uses the rules of a single fork. */
  readonly tx: TypedTransaction;
}

/**
 * Decodes a transaction and recovers its sender, or reads the sender from a placeholder signature. Throws if the
 * transaction is invalid in that fork.
 */
export function decodeTransaction(raw: Uint8Array, rules: ForkRules, sender?: Address): Transaction {
  const { keccak } = rules.crypto;
  // Not frozen, because the library attaches the sender to the object.
  const tx = createTxFromRLP(raw, { common: rules.common, freeze: false }) as TypedTransaction;
  if (!tx.isSigned()) throw new Error("transaction is not signed");
  const address = sender ?? impersonatedSender(tx) ?? new Address(keccak(tx.getSenderPublicKey()).subarray(12));
  tx.getSenderAddress = () => address;
  return { raw, hash: keccak(raw), sender: address, tx };
}

/** Returns the transaction under the given rules, without recovering the sender again. */
export function withRules(transaction: Transaction, rules: ForkRules): Transaction {
  if (transaction.tx.common === rules.common) return transaction;
  return decodeTransaction(transaction.raw, rules, transaction.sender);
}

/** Returns the maximum price per gas that the sender will pay. */
export function maxFeePerGas(tx: TypedTransaction): bigint {
  return "maxFeePerGas" in tx ? tx.maxFeePerGas : tx.gasPrice;
}

/** Returns the maximum tip per gas that the sender will pay. */
export function maxTipPerGas(tx: TypedTransaction): bigint {
  return tx.supports(Capability.EIP1559FeeMarket) && "maxPriorityFeePerGas" in tx
    ? tx.maxPriorityFeePerGas
    : maxFeePerGas(tx);
}

/** Returns the tip per gas at a given base fee. Negative if the fee cap is below the base fee. */
export function effectiveTip(tx: TypedTransaction, baseFee: bigint): bigint {
  const headroom = maxFeePerGas(tx) - baseFee;
  const tip = maxTipPerGas(tx);
  if (headroom < tip) return headroom;
  return tip;
}

/** Returns the versioned hashes of the transactions' blobs, in order. */
export function versionedHashesOf(transactions: readonly Transaction[]): Uint8Array[] {
  return transactions.flatMap(({ tx }) =>
    isBlob4844Tx(tx) ? tx.blobVersionedHashes.map((hash) => new Uint8Array(Buffer.from(hash.slice(2), "hex"))) : [],
  );
}

export function blobCountOf(tx: TypedTransaction): number {
  return isBlob4844Tx(tx) ? tx.blobVersionedHashes.length : 0;
}
