/** A backfill that proceeds backwards step by step. */
export interface BackfillTask {
  /**
   * Fetches the next stretch. Returns false if there is nothing to fetch or no peer to fetch it from. Rejects if the
   * signal is aborted or the node itself fails.
   */
  step(signal: AbortSignal): Promise<boolean>;
}
