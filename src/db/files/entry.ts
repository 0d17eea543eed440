/** One write to one key, as LevelDB keeps it: of several to a key, that with the highest sequence counts. */
export interface Entry {
  key: Uint8Array;
  /** Null for a deletion. */
  value: Uint8Array | null;
  sequence: bigint;
}

export const DELETION = 0;
export const VALUE = 1;
