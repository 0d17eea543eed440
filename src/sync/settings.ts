/** Settings of sync and backfill. */
export interface SyncSettings {
  /** Slots the head may be behind the clock, without a peer confirming it; undefined for the default. */
  horizonSlots: number | undefined;
  /**
   * How far back from the current epoch blocks are fetched: 0 for no backfill, `Infinity` for the whole history.
   * Undefined for the range that every node has to serve (phase0/p2p-interface.md, BeaconBlocksByRange).
   */
  backfillEpochs: number | undefined;
}

export const DEFAULT_SYNC_SETTINGS: SyncSettings = { horizonSlots: undefined, backfillEpochs: undefined };
