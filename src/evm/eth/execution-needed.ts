/** A read needs the execution of a block. The thread of the engine executes none for reads. */
export class ExecutionNeededError extends Error {
  constructor() {
    super("The read has to be done in the thread for reads.");
    this.name = "ExecutionNeededError";
  }
}
