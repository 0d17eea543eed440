import { toRootHex } from "@lodestar/utils";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type PayloadRequest,
  PayloadUnavailableError,
} from "../../execution/engine.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { forkchoiceState } from "../forkchoice-state.ts";

interface PayloadBuilderParts {
  engine: ExecutionEngine;
  forkChoice: ForkChoice;
}

/** Has the execution engine build payloads. */
export class PayloadBuilder {
  readonly #parts: PayloadBuilderParts;

  constructor(parts: PayloadBuilderParts) {
    this.#parts = parts;
  }

  /** Rejects with a `PayloadUnavailableError` or an `EngineUnavailableError` when no payload can be had now. */
  async build(request: PayloadRequest): Promise<BuiltPayload> {
    const { engine, forkChoice } = this.#parts;
    const state = forkchoiceState(forkChoice, toRootHex(request.parent.blockHash));
    const { payloadId, verdict } = await engine.forkchoiceUpdated(request.fork, state, request);
    if (payloadId === null) {
      throw new PayloadUnavailableError(
        `The execution engine builds no payload for slot ${request.slot}: it finds the block before ${verdict.status}.`,
      );
    }
    return engine.getPayload(request.fork, payloadId);
  }
}
