export interface CallOptions {
  /** Aborts the call. For a timeout of one second, pass `AbortSignal.timeout(1000)`. */
  readonly signal?: AbortSignal;
}
