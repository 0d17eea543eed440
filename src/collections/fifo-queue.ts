/** Number of removed items after which the array is trimmed, if they are more than half of it. */
const TRIM_FROM = 1024;

/**
 * First-in, first-out queue. A removed item is not referenced any more, whereas a `Set` keeps it in a superseded hash
 * table until that table is collected.
 */
export class FifoQueue<T> {
  #items: (T | undefined)[] = [];
  /** Index of the first item. */
  #front = 0;

  get size(): number {
    return this.#items.length - this.#front;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Removes and returns the first item. Returns undefined if the queue is empty. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#front];
    this.#items[this.#front++] = undefined;
    if (this.size === 0) {
      this.#items.length = 0;
      this.#front = 0;
    } else if (this.#front >= TRIM_FROM && this.#front > this.size) {
      this.#items = this.#items.slice(this.#front);
      this.#front = 0;
    }
    return item;
  }
}
