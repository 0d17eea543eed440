/** Looks at the main thread every millisecond, and at what it worked in between. */
export class MainThread {
  #longestMs = 0;
  #workedMs = workedMs();
  readonly #timer = setInterval(() => this.#look(), 1);

  /**
   * The longest time since the last call that it worked without a look at what else there was to do. What other
   * programs took is not in it.
   */
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
