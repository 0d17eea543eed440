/**
 * A number that is another one after every change of the head or of what fork choice says of blocks. It lies in shared memory:
 * other threads see by it whether what they were told is still true.
 */
export class Revision {
  readonly memory = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  /** To be called in the same turn as the change, after it. */
  raise(): void {
    Atomics.add(this.memory, 0, 1);
  }
}
