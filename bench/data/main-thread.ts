/** Samples the CPU time of the main thread every millisecond to find blocked stretches of the event loop. */
export class MainThread {
  #longestMs = 0;
  #workedMs = workedMs();
  readonly #timer = setInterval(() => this.#look(), 1);

  /** Returns the longest blocked stretch since the last call, in CPU time, so other processes do not distort it. */
  takeLongestMs(): number {
    this.#look();
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = workedMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#workedMs);
    this.#workedMs = now;
  }
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
