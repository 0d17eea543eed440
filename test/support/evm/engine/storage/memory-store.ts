import type { ArchivedBlock } from "../../../../../src/evm/engine/storage/block-archive.ts";
import type { EvmStore } from "../../../../../src/evm/engine/storage/evm-store.ts";

/** In-memory store with inspectable contents. */
export function memoryStore() {
  const transactions = new Map<number, Uint8Array>();
  const archived: ArchivedBlock[] = [];
  const overrides = new Map<string, Uint8Array>();
  const stored = { base: null as Uint8Array | null, transactions, archived, overrides };
  /** Writes fail while this is set. */
  const failing: { reason?: string | undefined } = {};
  const write = () => {
    if (failing.reason !== undefined) throw new Error(failing.reason);
  };
  const store: EvmStore = {
    readBase: async () => stored.base,
    writeBase: async (bytes) => {
      write();
      stored.base = bytes;
    },
    transactions: async (from) => [...transactions].filter(([number]) => number >= from).slice(0, 2),
    putTransaction: async (number, sent) => {
      write();
      transactions.set(number, sent);
    },
    deleteTransactions: async (numbers) => {
      for (const number of numbers) transactions.delete(number);
    },
    readOverrides: async (key) => overrides.get(key) ?? null,
    writeOverrides: async (key, bytes) => {
      overrides.set(key, bytes);
    },
    unarchivedOverrides: async () =>
      [...overrides].filter(([key]) => key !== "pending" && !archived.some(({ hash }) => hash === key)),
    deleteOverrides: async (hashes) => {
      for (const hash of hashes) overrides.delete(hash);
    },
    lastArchived: async () => archived.at(-1)?.number ?? 0,
    archiveBlocks: async (blocks) => {
      write();
      archived.push(...blocks);
    },
    readArchived: async (wanted) => archived.find(({ number }) => number === wanted)?.bytes ?? null,
    readArchivedRange: async (from, to) =>
      archived.filter(({ number }) => number >= from && number <= to).map(({ number, bytes }) => [number, bytes]),
    hasArchived: async (wanted) => archived.some(({ hash }) => hash === wanted),
    findArchived: async (kind, hash) => {
      const isWanted = (block: ArchivedBlock) =>
        kind === "block" ? block.hash === hash : block.transactions.includes(hash);
      return archived.find(isWanted)?.bytes ?? null;
    },
  };
  return { stored, store, failing };
}
