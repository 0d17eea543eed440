export interface CallOptions {
  /** Ends the waiting for the answer: `AbortSignal.timeout(1000)` gives it a second. */
  readonly signal?: AbortSignal;
}
