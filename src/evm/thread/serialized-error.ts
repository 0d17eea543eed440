import { EngineUnavailableError, PayloadUnavailableError } from "../../execution/engine.ts";
import { UnexecutableBlockError } from "../engine/unexecutable-block.ts";
import { EthError } from "../eth/eth-error.ts";
import { ExecutionNeededError } from "../eth/execution-needed.ts";
import { InvalidBlockError } from "../execution/invalid-block.ts";
import { PoolError } from "../pool/pool-error.ts";
import { ThreadStoppedError } from "./thread-stopped.ts";

/** Classes that errors keep across threads. Their fields have to be cloneable. Others become plain errors. */
const KNOWN_CLASSES = {
  EthError,
  ExecutionNeededError,
  PoolError,
  InvalidBlockError,
  UnexecutableBlockError,
  PayloadUnavailableError,
  EngineUnavailableError,
  ThreadStoppedError,
};

export interface SerializedError {
  className: string;
  message: string;
  stack: string | undefined;
  /** Own fields, such as `code`. */
  fields: Record<string, unknown>;
}

export function serializeError(thrown: unknown): SerializedError {
  if (!(thrown instanceof Error)) return { className: "Error", message: String(thrown), stack: undefined, fields: {} };
  const { message, stack } = thrown;
  const className = thrown.constructor.name;
  const fields = className in KNOWN_CLASSES ? { ...thrown } : { name: thrown.name };
  return { className, message, stack, fields };
}

/** Restores an error with its class, its fields and its original stack. */
export function deserializeError({ className, message, stack, fields }: SerializedError): Error {
  const error = new Error(message);
  const known = KNOWN_CLASSES[className as keyof typeof KNOWN_CLASSES];
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, fields);
}
