import { type BuiltPayload, type ExecutionEngine, PayloadUnavailableError, type PayloadVerdict } from "./engine.ts";

/** Stands where a node has no execution engine: it follows the chain optimistically and cannot propose. */
export class NoExecutionEngine implements ExecutionEngine {
  readonly online = false;

  async notifyNewPayload(): Promise<PayloadVerdict> {
    return { status: "optimistic" };
  }

  async forkchoiceUpdated(): Promise<void> {}

  async buildPayload(): Promise<BuiltPayload> {
    throw new PayloadUnavailableError("No block can be built: this node has no execution engine to build its payload.");
  }
}
