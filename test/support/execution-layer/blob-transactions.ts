import { isBlob4844Tx, type TypedTransaction } from "@ethereumjs/tx";
import { Transaction } from "ethers";
import type { Hex } from "./wire.ts";

const BLOB_TRANSACTION = "0x03";
/** Hex digits of a KZG proof. */
const PROOF = /[0-9a-f]{96}/g;

/** Blob with the proofs of its transaction. */
export interface PooledBlob {
  blob: Hex;
  commitment: Hex;
  /** Blob proof (EIP-4844), or cell proofs (EIP-7594). */
  proofs: Hex[];
}

/** Transaction in block form, and its blobs. */
export interface ReceivedTransaction {
  raw: Hex;
  /** Blobs by versioned hash. */
  blobs: ReadonlyMap<Hex, PooledBlob>;
}

/** Decodes a raw transaction. Verifies neither its contents nor blob proofs. */
export function readTransaction(sent: Hex): ReceivedTransaction {
  if (!sent.startsWith(BLOB_TRANSACTION)) return { raw: sent, blobs: new Map() };
  const transaction = Transaction.from(sent);
  if (!transaction.blobs) throw new Error("the blobs of the transaction are missing");
  const hashes = transaction.blobVersionedHashes as Hex[];
  const blobs = transaction.blobs.map(({ data, commitment, proof }, index): [Hex, PooledBlob] => [
    hashes[index]!,
    { blob: data as Hex, commitment: commitment as Hex, proofs: splitProofs(proof) },
  ]);
  transaction.blobs = null;
  return { raw: transaction.serialized as Hex, blobs: new Map(blobs) };
}

/** Returns the versioned hashes of the blobs of transactions in block order. */
export function versionedHashesIn(transactions: readonly TypedTransaction[]): Hex[] {
  return transactions.flatMap((transaction) => (isBlob4844Tx(transaction) ? transaction.blobVersionedHashes : []));
}

function splitProofs(proofs: string): Hex[] {
  return Array.from(proofs.slice(2).matchAll(PROOF), ([proof]): Hex => `0x${proof}`);
}
