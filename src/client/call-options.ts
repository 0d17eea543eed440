export interface CallOptions {
  /** Aborts the call, e.g. `AbortSignal.timeout(1000)` after a second. */
  readonly signal?: AbortSignal;
}
