/** Goes back through history, a stretch at a time. */
export interface Walk {
  /**
   * False when there is nothing to fetch, or nobody to fetch it from; otherwise the next step may be taken at once. Rejects when the
   * signal is aborted, or the node itself fails.
   */
  step(signal: AbortSignal): Promise<boolean>;
}
