import { EngineUnavailableError } from "../../execution/engine.ts";

/** The thread stopped during a call, whose outcome is unknown. */
export class ThreadStoppedError extends EngineUnavailableError {
  constructor() {
    super("The EVM's thread stopped before it finished the call. It is being restarted: try again.");
    this.name = "ThreadStoppedError";
  }
}
