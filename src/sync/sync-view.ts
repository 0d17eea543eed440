/** Whether the node is catching up with its peers. */
export interface SyncView {
  readonly isSyncing: boolean;
  /** Slots from the head to the current one while syncing, else 0. */
  readonly syncDistance: number;
}
