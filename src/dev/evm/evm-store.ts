import type { BeaconDb } from "../../db/beacon-db.ts";
import type { EvmStore } from "../../evm/engine/pool-journal.ts";

const BASE = "evmState";
const POOL = "evmPool/";
const NUMBER_DIGITS = 16;
/** Transactions with blobs have hundreds of kilobytes. */
const PAGE_BYTES = 1024 * 1024;

/** Stores the execution state and the pool with the chain, so that snapshots and dumps contain them. */
export function evmStore(db: BeaconDb): EvmStore {
  const nameOf = (number: number) => `${POOL}${String(number).padStart(NUMBER_DIGITS, "0")}`;
  const write = async (name: string, bytes: Uint8Array) => {
    const batch = db.batch();
    batch.meta.putCustom(name, bytes);
    await batch.write();
  };
  return {
    readBase: () => db.meta.getCustom(BASE),
    writeBase: (bytes) => write(BASE, bytes),
    transactions: async (from) => {
      const page: [number: number, sent: Uint8Array][] = [];
      let bytes = 0;
      for await (const [name, sent] of db.meta.customEntries(POOL, nameOf(from))) {
        page.push([Number(name.slice(POOL.length)), sent]);
        bytes += sent.length;
        if (bytes >= PAGE_BYTES) break;
      }
      return page;
    },
    putTransaction: (number, sent) => write(nameOf(number), sent),
    deleteTransactions: async (numbers) => {
      const batch = db.batch();
      for (const number of numbers) batch.meta.deleteCustom(nameOf(number));
      await batch.write();
    },
  };
}
