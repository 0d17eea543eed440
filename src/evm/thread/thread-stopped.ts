import { EngineUnavailableError } from "../../execution/engine.ts";

/** Thrown if the thread stops during a call. The outcome of the call is unknown. */
export class ThreadStoppedError extends EngineUnavailableError {
  constructor() {
    super("The EVM's thread stopped before it finished the call. It is being restarted: try again.");
    this.name = "ThreadStoppedError";
  }
}
