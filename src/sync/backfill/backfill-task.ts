/** A backfill that proceeds backwards in steps. */
export interface BackfillTask {
  /**
   * Fetches the next range. Returns false if there is nothing to fetch or no peer to fetch from. Rejects if the signal
   * is aborted or the node itself fails.
   */
  step(signal: AbortSignal): Promise<boolean>;
}
