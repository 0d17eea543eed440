import { Address } from "@ethereumjs/util";
import type { RootHex } from "@lodestar/types";
import { type Block, decodeBlock, type ExecutedBlock, encodeBlock } from "../../execution/block.ts";
import { decodeHeader } from "../../execution/header.ts";
import { toHex } from "../../execution/payload.ts";
import { decodeReceipts, encodeReceipts, type Receipt } from "../../execution/receipt.ts";
import type { ChainRules } from "../../execution/rules.ts";
import { asBytes, asList, decode, encodeBytes, encodeList } from "../../rlp.ts";

/** A block with its receipts, but possibly without its state. */
export interface ReceiptedBlock extends Block {
  receipts: readonly Receipt[];
}

/** A scanned block, decoded on demand. */
export interface ScannedBlock {
  logsBloom: Uint8Array;
  decode(): ReceiptedBlock;
}

/** A finalized block as stored. */
export interface ArchivedBlock {
  number: number;
  hash: RootHex;
  transactions: readonly RootHex[];
  bytes: Uint8Array;
}

/** Persists finalized blocks by number, by hash and by transaction. */
export interface ArchiveStore {
  /** Returns the number of the newest block, or 0. Genesis is not stored. */
  lastArchived(): Promise<number>;
  archiveBlocks(blocks: readonly ArchivedBlock[]): Promise<void>;
  readArchived(numbers: readonly number[]): Promise<(Uint8Array | null)[]>;
  /** Returns the number of the block with this hash, or of the block that includes the transaction with this hash. */
  archivedNumber(kind: "block" | "transaction", hash: RootHex): Promise<number | null>;
}

const ADDRESS_SIZE = 20;

/** Archive of finalized blocks with their receipts. */
export class BlockArchive {
  readonly #store: ArchiveStore;
  readonly #rules: ChainRules;

  constructor(store: ArchiveStore, rules: ChainRules) {
    this.#store = store;
    this.#rules = rules;
  }

  /** Returns the number of the newest block, or 0. */
  async last(): Promise<bigint> {
    return BigInt(await this.#store.lastArchived());
  }

  async has(hash: RootHex): Promise<boolean> {
    return (await this.#store.archivedNumber("block", hash)) !== null;
  }

  /** Stores consecutive blocks, oldest first. Skips blocks that are already stored. */
  async append(blocks: readonly ExecutedBlock[]): Promise<void> {
    const last = await this.last();
    const missing = blocks.filter(({ header }) => header.number > last);
    if (missing.length > 0) await this.#store.archiveBlocks(missing.map(archivedOf));
  }

  async byNumber(number: bigint): Promise<ReceiptedBlock | undefined> {
    const [entry] = await this.range(number, number);
    return entry?.decode();
  }

  /** Reads blocks with consecutive numbers. Missing blocks are undefined. */
  async range(from: bigint, to: bigint): Promise<(ScannedBlock | undefined)[]> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index);
    const stored = await this.#store.readArchived(numbers);
    return stored.map((bytes) =>
      bytes === null ? undefined : { logsBloom: bloomOf(bytes), decode: () => decodeReceipted(bytes, this.#rules) },
    );
  }

  async byHash(hash: RootHex): Promise<ReceiptedBlock | undefined> {
    const number = await this.#store.archivedNumber("block", hash);
    return number === null ? undefined : this.byNumber(BigInt(number));
  }

  async numberOfTransaction(hash: RootHex): Promise<bigint | undefined> {
    const number = await this.#store.archivedNumber("transaction", hash);
    return number === null ? undefined : BigInt(number);
  }
}

function archivedOf(block: ExecutedBlock): ArchivedBlock {
  const { hash, header, transactions } = block;
  return {
    number: Number(header.number),
    hash: toHex(hash),
    transactions: transactions.map((transaction) => toHex(transaction.hash)),
    bytes: encodeReceipted(block),
  };
}

/** Encodes a block with its receipts, and with its senders, which are expensive to recover. */
export function encodeReceipted(block: ReceiptedBlock): Uint8Array {
  return encodeList([
    encodeBytes(encodeBlock(block)),
    encodeBytes(encodeReceipts(block.receipts)),
    encodeBytes(Buffer.concat(block.transactions.map(({ sender }) => sender.bytes))),
  ]);
}

function bloomOf(bytes: Uint8Array): Uint8Array {
  const [block] = asList(decode(bytes));
  const [header] = asList(decode(asBytes(block)));
  return decodeHeader(header!).logsBloom;
}

/** Inverse of `encodeReceipted`. */
export function decodeReceipted(bytes: Uint8Array, rules: ChainRules): ReceiptedBlock {
  const [block, receipts, senders] = asList(decode(bytes)).map(asBytes);
  const senderAt = (index: number) => new Address(senders!.slice(index * ADDRESS_SIZE, (index + 1) * ADDRESS_SIZE));
  return {
    ...decodeBlock(block!, rules, senderAt),
    receipts: decodeReceipts(receipts!, rules.crypto.keccak),
  };
}
