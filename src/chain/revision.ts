const HEAD = 0;
const STATUS = 1;

/**
 * Two numbers in shared memory, by which other threads see whether what they were told is still true. The first is another one
 * after every change of the head or of what fork choice says of blocks, the second also after every change of the node's status:
 * when a slot begins, the execution engine comes or goes, or the node has caught up or fallen behind.
 */
export class Revision {
  readonly memory = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));

  /** To be called in the same turn as the change, after it. */
  raise(): void {
    Atomics.add(this.memory, HEAD, 1);
    this.raiseStatus();
  }

  /** The same for a change of the status alone. */
  raiseStatus(): void {
    Atomics.add(this.memory, STATUS, 1);
  }
}
