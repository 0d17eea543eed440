/** Runs a task on request, one run at a time, with a minimum pause between runs. */
export class ThrottledTask {
  readonly #task: () => Promise<void>;
  readonly #pauseMs: number;
  #state: "idle" | "running" | "pausing" | "closed" = "idle";
  #isRequested = false;
  #pause: NodeJS.Timeout | undefined;

  /** The task must not reject. */
  constructor(task: () => Promise<void>, pauseMs: number) {
    this.#task = task;
    this.#pauseMs = pauseMs;
  }

  /**
   * Requests a run. Ignored while the task is running. Requests made during the pause are coalesced into a single run
   * after it.
   */
  request(): void {
    if (this.#state === "idle") void this.#run();
    else if (this.#state === "pausing") this.#isRequested = true;
  }

  close(): void {
    this.#state = "closed";
    clearTimeout(this.#pause);
  }

  async #run(): Promise<void> {
    this.#state = "running";
    await this.#task();
    if (this.#isClosed) return;
    this.#state = "pausing";
    this.#pause = setTimeout(() => {
      this.#state = "idle";
      if (!this.#isRequested) return;
      this.#isRequested = false;
      this.request();
    }, this.#pauseMs);
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }
}
