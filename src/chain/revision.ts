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
  /** Changes under way that others are to see as one. */
  #underway = 0;
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
    if (this.#underway === 0) this.publish();
  }

  /** Other threads see what is raised meanwhile only at the end, or once it is published: until then they go by what was before. */
  async asOne<T>(change: () => Promise<T>): Promise<T> {
    this.#underway++;
    try {
      return await change();
    } finally {
      if (--this.#underway === 0) this.publish();
    }
  }

  /** Other threads see all changes from now on. To be called before they are told of anything that follows from these. */
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
