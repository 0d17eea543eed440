/** Thrown if a read requires executing a block. The engine's thread executes no blocks for reads. */
export class ExecutionNeededError extends Error {
  constructor() {
    super("The read has to be done in the thread for reads.");
    this.name = "ExecutionNeededError";
  }
}
