/** Time as the peers' components measure it; a test drives its own. */
export interface Timers {
  /** Milliseconds that only ever rise, from whatever beginning. */
  now(): number;
  /** Returns the function that ends it. */
  every(ms: number, run: () => void): () => void;
}

/** The time of the machine. */
export function systemTimers(): Timers {
  return {
    now: () => performance.now(),
    every(ms, run) {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
  };
}
