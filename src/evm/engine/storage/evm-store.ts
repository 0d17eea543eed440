import type { OverrideStore } from "../../overrides/chain-overrides.ts";
import type { ArchiveStore } from "./block-archive.ts";

/**
 * Persists the state that an engine needs after a restart. Entries of the journal are numbered in the order of arrival.
 */
export interface EvmStore extends ArchiveStore, OverrideStore {
  /** Returns the state of a finalized block, encoded by `encodeBase`, or null. */
  readBase(): Promise<Uint8Array | null>;
  writeBase(bytes: Uint8Array): Promise<void>;
  /** Returns some entries of the journal with that number or a higher one, in order. Empty at the end. */
  transactions(from: number): Promise<[number: number, sent: Uint8Array][]>;
  putTransaction(number: number, sent: Uint8Array): Promise<void>;
  deleteTransactions(numbers: readonly number[]): Promise<void>;
}
