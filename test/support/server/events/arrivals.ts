/** Queue of received items, for tests that await them one by one. */
export class Arrivals<T> {
  readonly #items: T[] = [];
  readonly #waiting: { resolve(item: T): void; reject(error: Error): void }[] = [];
  #end: Error | undefined;

  /** Number of items not taken yet. */
  get left(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve(item);
    else this.#items.push(item);
  }

  /** Rejects all further reads. */
  end(message: string): void {
    this.#end = new Error(message);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#end);
  }

  next(): Promise<T> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve(item);
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  async take(count: number): Promise<T[]> {
    const taken: T[] = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }
}
