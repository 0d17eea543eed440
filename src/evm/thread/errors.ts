import { EngineUnavailableError, PayloadUnavailableError } from "../../execution/engine.ts";
import { ErrorRegistry } from "../../threads/error-registry.ts";
import { UnexecutableBlockError } from "../engine/unexecutable-block.ts";
import { EthError } from "../eth/eth-error.ts";
import { ExecutionNeededError } from "../eth/execution-needed.ts";
import { InvalidBlockError } from "../execution/invalid-block.ts";
import { PoolError } from "../pool/pool-error.ts";
import { ThreadStoppedError } from "./thread-stopped.ts";

/** Errors that keep their class when passed between the EVM threads and the node. */
export const EVM_ERRORS = new ErrorRegistry([
  EthError,
  ExecutionNeededError,
  PoolError,
  InvalidBlockError,
  UnexecutableBlockError,
  PayloadUnavailableError,
  EngineUnavailableError,
  ThreadStoppedError,
]);
