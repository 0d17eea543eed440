import { Address } from "@ethereumjs/util";
import type { RootHex } from "@lodestar/types";
import { type Block, decodeBlock, type ExecutedBlock, encodeBlock } from "../../execution/block.ts";
import { decodeHeader, encodeHeader } from "../../execution/header.ts";
import { toHex } from "../../execution/payload.ts";
import { decodeReceiptLogs, decodeReceipts, encodeReceipts, type Receipt } from "../../execution/receipt.ts";
import type { ChainRules } from "../../execution/rules.ts";
import type { Transaction } from "../../execution/transaction.ts";
import { asBytes, asList, contentAt, decode, encodeBytes, encodeList } from "../../rlp.ts";
import type { Keccak } from "../../state/trie.ts";

/** A block with its receipts, but possibly without its state. */
export interface ReceiptedBlock extends Block {
  receipts: readonly Receipt[];
}

/** The parts of a block needed to encode its logs. */
export interface LoggedBlock extends Pick<Block, "hash" | "header"> {
  transactions: readonly Pick<Transaction, "hash">[];
  receipts: readonly Pick<Receipt, "logs">[];
}

/** The parts of a stored block needed to index its logs. */
export interface BloomedBlock {
  number: number;
  parentHash: Uint8Array;
  logsBloom: Uint8Array;
  /** Encoded header. Its hash is the block hash. */
  header: Uint8Array;
}

/** A finalized block as it is stored. */
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
  readArchived(number: number): Promise<Uint8Array | null>;
  /** Reads the existing blocks in a range from a single snapshot, in ascending order. */
  readArchivedRange(from: number, to: number): Promise<[number: number, bytes: Uint8Array][]>;
  hasArchived(hash: RootHex): Promise<boolean>;
  /** Reads the block with this hash, or the block that includes the transaction with this hash. */
  findArchived(kind: "block" | "transaction", hash: RootHex): Promise<Uint8Array | null>;
}

const ADDRESS_SIZE = 20;
/** Position of the bloom field in a header. */
const BLOOM_FIELD = 6;

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

  has(hash: RootHex): Promise<boolean> {
    return this.#store.hasArchived(hash);
  }

  /** Stores consecutive blocks, oldest first. Skips blocks that are already stored. */
  async append(blocks: readonly ExecutedBlock[]): Promise<void> {
    const last = await this.last();
    const missing = blocks.filter(({ header }) => header.number > last);
    if (missing.length > 0) await this.#store.archiveBlocks(missing.map(archivedOf));
  }

  async byNumber(number: bigint): Promise<ReceiptedBlock | undefined> {
    const bytes = await this.#store.readArchived(Number(number));
    return bytes === null ? undefined : decodeReceipted(bytes, this.#rules);
  }

  /** Reads the existing blocks in a range, in ascending order. Returns a decoding function for each block. */
  async openRange(from: number, to: number): Promise<(() => ReceiptedBlock)[]> {
    const stored = await this.#store.readArchivedRange(from, to);
    return stored.map(
      ([, bytes]) =>
        () =>
          decodeReceipted(bytes, this.#rules),
    );
  }

  /** Reads a block. Returns a function that decodes the parts needed to encode its logs. */
  async openLogged(number: number): Promise<(() => LoggedBlock) | undefined> {
    const bytes = await this.#store.readArchived(number);
    return bytes === null ? undefined : () => decodeLogged(bytes, this.#rules.crypto.keccak);
  }

  /** Reads the blooms of the existing blocks in a range, in ascending order. */
  async blooms(from: number, to: number): Promise<BloomedBlock[]> {
    const stored = await this.#store.readArchivedRange(from, to);
    return stored.map(([number, bytes]) => readBloom(number, bytes));
  }

  byHash(hash: RootHex): Promise<ReceiptedBlock | undefined> {
    return this.#find("block", hash);
  }

  /** Returns the block that includes a transaction. */
  withTransaction(hash: RootHex): Promise<ReceiptedBlock | undefined> {
    return this.#find("transaction", hash);
  }

  async #find(kind: "block" | "transaction", hash: RootHex): Promise<ReceiptedBlock | undefined> {
    const bytes = await this.#store.findArchived(kind, hash);
    return bytes === null ? undefined : decodeReceipted(bytes, this.#rules);
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

/** Encodes a block with its receipts and its senders. Senders are expensive to recover. */
export function encodeReceipted(block: ReceiptedBlock): Uint8Array {
  return encodeList([
    encodeBytes(encodeBlock(block)),
    encodeBytes(encodeReceipts(block.receipts)),
    encodeBytes(Buffer.concat(block.transactions.map(({ sender }) => sender.bytes))),
  ]);
}

/** Reads the bloom of a stored block without decoding the block. */
function readBloom(number: number, bytes: Uint8Array): BloomedBlock {
  const [encodedBlock] = contentAt(bytes, 0);
  const [block] = contentAt(bytes, encodedBlock);
  const [header] = contentAt(bytes, block);
  const [start, end] = contentAt(bytes, header);
  const [parentHash, afterParentHash] = contentAt(bytes, start);
  let at = afterParentHash;
  for (let field = 1; field < BLOOM_FIELD; field++) [, at] = contentAt(bytes, at);
  return {
    number,
    parentHash: bytes.subarray(parentHash, afterParentHash),
    logsBloom: bytes.subarray(...contentAt(bytes, at)),
    header: bytes.subarray(header, end),
  };
}

/** Decodes only the parts of a stored block needed to encode its logs. */
function decodeLogged(bytes: Uint8Array, keccak: Keccak): LoggedBlock {
  const [block, receipts] = asList(decode(bytes)).map(asBytes);
  const [headerItem, transactions] = asList(decode(block!));
  const header = decodeHeader(headerItem!);
  return {
    hash: keccak(encodeHeader(header)),
    header,
    transactions: asList(transactions).map((raw) => ({ hash: keccak(asBytes(raw)) })),
    receipts: decodeReceiptLogs(receipts!),
  };
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
