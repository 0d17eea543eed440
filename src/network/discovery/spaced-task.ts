/** Runs a task when it is asked for, never twice at the same time, and with a pause after each run. */
export class SpacedTask {
  readonly #task: () => Promise<void>;
  readonly #pauseMs: number;
  #state: "idle" | "running" | "pausing" | "closed" = "idle";
  #isAskedFor = false;
  #pause: NodeJS.Timeout | undefined;

  /** The task must not fail. */
  constructor(task: () => Promise<void>, pauseMs: number) {
    this.#task = task;
    this.#pauseMs = pauseMs;
  }

  /** During a run it asks for nothing, and during the pause for one run after it, however often it is called. */
  request(): void {
    if (this.#state === "idle") void this.#run();
    else if (this.#state === "pausing") this.#isAskedFor = true;
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
      if (!this.#isAskedFor) return;
      this.#isAskedFor = false;
      this.request();
    }, this.#pauseMs);
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }
}
