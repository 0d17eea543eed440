/** A read needs a block to be executed, which the thread of the engine does not do for reads. */
export class ExecutionNeededError extends Error {
  constructor() {
    super("The read has to be done in the thread for reads.");
    this.name = "ExecutionNeededError";
  }
}
