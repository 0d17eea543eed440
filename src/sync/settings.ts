/** Sync and backfill settings. */
export interface SyncSettings {
  /** Number of slots the head may be behind the clock without confirmation by a peer. Undefined for the default. */
  horizonSlots: number | undefined;
  /**
   * Number of epochs before the current one for which blocks are fetched: 0 disables backfill, `Infinity` fetches the
   * whole history. Undefined for the range that every node has to serve (phase0/p2p-interface.md, BeaconBlocksByRange).
   */
  backfillEpochs: number | undefined;
}

export const DEFAULT_SYNC_SETTINGS: SyncSettings = { horizonSlots: undefined, backfillEpochs: undefined };
