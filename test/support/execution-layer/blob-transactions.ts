import { isBlob4844Tx, type TypedTransaction } from "@ethereumjs/tx";
import { Transaction } from "ethers";
import type { Hex } from "./wire.ts";

const BLOB_TRANSACTION = "0x03";
/** Hexadecimal digits of a KZG proof. */
const PROOF = /[0-9a-f]{96}/g;

/** A blob as its transaction brought it. */
export interface PooledBlob {
  blob: Hex;
  commitment: Hex;
  /** One of the whole blob (EIP-4844), or one of each of its cells (EIP-7594). */
  proofs: Hex[];
}

/** A transaction as blocks have it, and apart from it the blobs that it came with. */
export interface ReceivedTransaction {
  raw: Hex;
  /** By their versioned hashes. */
  blobs: ReadonlyMap<Hex, PooledBlob>;
}

/** Reads a transaction as it is sent. What it says is not verified, the proofs of blobs neither. */
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

/** Of the blobs that transactions carry, in the order in which a block has them. */
export function versionedHashesIn(transactions: readonly TypedTransaction[]): Hex[] {
  return transactions.flatMap((transaction) => (isBlob4844Tx(transaction) ? transaction.blobVersionedHashes : []));
}

function splitProofs(proofs: string): Hex[] {
  return Array.from(proofs.slice(2).matchAll(PROOF), ([proof]): Hex => `0x${proof}`);
}
