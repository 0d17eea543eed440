const HEAD = 0;
const STATUS = 1;

/**
 * Two numbers in shared memory, by which other threads see whether what they were told is still true. The first is another one
 * after every change of the head or of what fork choice says of blocks, the second also after every change of the node's status:
 * when a slot begins, the execution engine comes or goes, or the node has caught up or fallen behind.
 */
export class Revision {
  readonly memory = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #listeners = new Set<() => void>();
  /** Whether others are to see what changes only when it is published. */
  #isHeldBack = false;
  #isHeadRaised = false;
  #isStatusRaised = false;

  /** To be called in the same turn as the change, after it. */
  raise(): void {
    this.#isHeadRaised = true;
    this.raiseStatus();
  }

  /** The same for a change of the status alone. */
  raiseStatus(): void {
    this.#isStatusRaised = true;
    if (!this.#isHeldBack) this.publish();
  }

  /** Other threads see what is raised meanwhile at the end, or when it is completed or published: until then they go by what was before. */
  async asOne<T>(change: () => Promise<T>): Promise<T> {
    this.#isHeldBack = true;
    try {
      return await change();
    } finally {
      this.complete();
    }
  }

  /** What belongs together has changed; nothing is held back from now on. */
  complete(): void {
    this.#isHeldBack = false;
    this.publish();
  }

  /** Other threads see what has changed by now. To be called before they are told of anything that follows from it. */
  publish(): void {
    if (!this.#isStatusRaised) return;
    if (this.#isHeadRaised) Atomics.add(this.memory, HEAD, 1);
    Atomics.add(this.memory, STATUS, 1);
    this.#isHeadRaised = false;
    this.#isStatusRaised = false;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener when a number has changed, perhaps in the midst of a change; returns the function that ends it. */
  onPublished(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
