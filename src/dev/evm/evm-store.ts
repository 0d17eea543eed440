import type { BeaconDb } from "../../db/beacon-db.ts";
import type { EvmStore } from "../../evm/engine/storage/evm-store.ts";
import { isPendingChange } from "../../evm/overrides/stored-overrides.ts";

const BASE = "evmState";
const POOL = "evmPool/";
/** Prefix for each block's account changes and impersonations, which are needed to re-execute the block. */
export const OVERRIDES = "evmOverrides/";
const PENDING_OVERRIDES = `${OVERRIDES}pending`;
/** Number of the newest stored block. Blocks and their indexes are stored under the prefixes below. */
const LAST_ARCHIVED = "evmArchived";
const BLOCKS = "evmBlocks/";
const NUMBERS = { block: "evmBlockNumbers/", transaction: "evmTransactionNumbers/" } as const;
const NUMBER_DIGITS = 16;
/** A transaction with blobs takes hundreds of kilobytes. */
const PAGE_BYTES = 1024 * 1024;

/** Stores the execution state and the pool with the chain, so snapshots and dumps contain them. */
export function evmStore(db: BeaconDb): EvmStore {
  const nameOf = (number: number, prefix = POOL) => `${prefix}${String(number).padStart(NUMBER_DIGITS, "0")}`;
  const readNumber = async (name: string) => {
    const bytes = await db.meta.getCustom(name);
    return bytes === null ? null : Number(Buffer.from(bytes).readBigUInt64BE());
  };
  const hasArchived = async (hash: string) => (await readNumber(`${NUMBERS.block}${hash}`)) !== null;
  const write = async (name: string, bytes: Uint8Array) => {
    const batch = db.batch();
    batch.meta.putCustom(name, bytes);
    await batch.write();
  };
  const deleteAll = async (names: readonly string[]) => {
    const batch = db.batch();
    for (const name of names) batch.meta.deleteCustom(name);
    await batch.write();
  };
  return {
    lastArchived: async () => (await readNumber(LAST_ARCHIVED)) ?? 0,
    archiveBlocks: async (blocks) => {
      const batch = db.batch();
      for (const { number, hash, transactions, bytes } of blocks) {
        const encoded = encodeNumber(number);
        batch.meta.putCustom(nameOf(number, BLOCKS), bytes);
        batch.meta.putCustom(`${NUMBERS.block}${hash}`, encoded);
        for (const transaction of transactions) batch.meta.putCustom(`${NUMBERS.transaction}${transaction}`, encoded);
        batch.meta.putCustom(LAST_ARCHIVED, encoded);
      }
      await batch.write();
    },
    readArchived: (number) => db.meta.getCustom(nameOf(number, BLOCKS)),
    readArchivedRange: async (from, to) => {
      const blocks: [number: number, bytes: Uint8Array][] = [];
      for await (const [name, bytes] of db.meta.customEntries(BLOCKS, nameOf(from, BLOCKS))) {
        const number = Number(name.slice(BLOCKS.length));
        if (number > to) break;
        blocks.push([number, bytes]);
      }
      return blocks;
    },
    hasArchived,
    findArchived: async (kind, hash) => {
      const number = await readNumber(`${NUMBERS[kind]}${hash}`);
      return number === null ? null : db.meta.getCustom(nameOf(number, BLOCKS));
    },
    readBase: () => db.meta.getCustom(BASE),
    writeBase: (bytes) => write(BASE, bytes),
    readOverrides: (key) => db.meta.getCustom(`${OVERRIDES}${key}`),
    writeOverrides: (key, bytes) => write(`${OVERRIDES}${key}`, bytes),
    unarchivedOverrides: async () => {
      const unarchived: [blockHash: string, bytes: Uint8Array][] = [];
      for await (const [name, bytes] of db.meta.customEntries(OVERRIDES)) {
        if (name === PENDING_OVERRIDES) continue;
        const hash = name.slice(OVERRIDES.length);
        if (!(await hasArchived(hash))) unarchived.push([hash, bytes]);
      }
      return unarchived;
    },
    deleteOverrides: (hashes) => deleteAll(hashes.map((hash) => `${OVERRIDES}${hash}`)),
    transactions: async (from) => {
      const page: [number: number, encoded: Uint8Array][] = [];
      let bytes = 0;
      for await (const [name, encoded] of db.meta.customEntries(POOL, nameOf(from))) {
        page.push([Number(name.slice(POOL.length)), encoded]);
        bytes += encoded.length;
        if (bytes >= PAGE_BYTES) break;
      }
      return page;
    },
    putTransaction: (number, encoded) => write(nameOf(number), encoded),
    deleteTransactions: (numbers) => deleteAll(numbers.map((number) => nameOf(number))),
  };
}

/** Empties the archive. The EVM refills it by executing the chain's payloads. */
export async function clearArchive(db: BeaconDb): Promise<void> {
  for (const prefix of [LAST_ARCHIVED, BLOCKS, NUMBERS.block, NUMBERS.transaction]) await db.meta.deleteCustoms(prefix);
}

/** Returns true if any block of the chain, or the next block, contains changes that other nodes could not verify. */
export async function hasOverrides(db: BeaconDb): Promise<boolean> {
  for await (const [name, bytes] of db.meta.customEntries(OVERRIDES)) {
    if (name !== PENDING_OVERRIDES || isPendingChange(bytes)) return true;
  }
  return false;
}

function encodeNumber(number: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}
