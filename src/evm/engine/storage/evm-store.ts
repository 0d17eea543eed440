import type { OverrideStore } from "../../overrides/chain-overrides.ts";
import type { ArchiveStore } from "./block-archive.ts";

/** Persists the state an engine needs after a restart. Journal entries are numbered in order of arrival. */
export interface EvmStore extends ArchiveStore, OverrideStore {
  /** Returns the state of a finalized block, encoded by `encodeBase`, or null. */
  readBase(): Promise<Uint8Array | null>;
  writeBase(bytes: Uint8Array): Promise<void>;
  /** Returns the next journal entries, starting at the given number, in order. Empty at the end of the journal. */
  transactions(from: number): Promise<[number: number, encoded: Uint8Array][]>;
  putTransaction(number: number, encoded: Uint8Array, hash: Uint8Array): Promise<void>;
  deleteTransactions(numbers: readonly number[]): Promise<void>;
}
