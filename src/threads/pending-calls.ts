/** Handle that keeps the process alive while calls are pending. */
export interface KeepAlive {
  ref(): void;
  unref(): void;
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Calls waiting for an answer, by id. Later calls have higher ids. */
export class PendingCalls {
  readonly #keepAlive: KeepAlive | undefined;
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;

  constructor(keepAlive?: KeepAlive) {
    this.#keepAlive = keepAlive;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Sends a call with a new id. Returns a promise for the answer. */
  call<Answer>(send: (id: number) => void): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      if (this.#calls.size === 0) this.#keepAlive?.ref();
      this.#calls.set(id, { resolve: resolve as PendingCall["resolve"], reject });
      try {
        send(id);
      } catch (error) {
        this.reject(id, error);
      }
    });
  }

  resolve(id: number, value: unknown): void {
    this.#take(id)?.resolve(value);
  }

  reject(id: number, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  rejectAll(error: Error): void {
    for (const id of [...this.#calls.keys()]) this.reject(id, error);
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    if (this.#calls.delete(id) && this.#calls.size === 0) this.#keepAlive?.unref();
    return call;
  }
}
