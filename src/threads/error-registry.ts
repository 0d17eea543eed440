import { inspect } from "node:util";

// biome-ignore lint/suspicious/noExplicitAny: errors are created without their constructors.
type ErrorClass = abstract new (...args: any[]) => Error;

/** An error on its way to another thread. */
export interface SerializedError {
  className: string;
  message: string;
  stack: string | undefined;
  /** Own properties, such as `code`. */
  fields: Record<string, unknown>;
}

/**
 * Error classes that are preserved across threads. Their fields must be cloneable. Any other error becomes a plain
 * error with its fields and causes in the stack.
 */
export class ErrorRegistry {
  readonly #classes: ReadonlyMap<string, ErrorClass>;

  constructor(classes: readonly ErrorClass[] = []) {
    this.#classes = new Map(classes.map((errorClass) => [errorClass.name, errorClass]));
  }

  serialize(thrown: unknown): SerializedError {
    if (!(thrown instanceof Error))
      return { className: "Error", message: String(thrown), stack: undefined, fields: {} };
    const { message, stack, name } = thrown;
    const className = thrown.constructor.name;
    if (this.#classes.has(className)) return { className, message, stack, fields: { ...thrown } };
    return { className, message, stack: inspect(thrown), fields: { name } };
  }

  /** Restores an error with its class, fields and original stack. */
  deserialize({ className, message, stack, fields }: SerializedError): Error {
    // Capturing a stack trace only to replace it would dominate the cost.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    const error = new Error(message);
    Error.stackTraceLimit = stackTraceLimit;
    const errorClass = this.#classes.get(className);
    if (errorClass !== undefined) Object.setPrototypeOf(error, errorClass.prototype);
    if (stack !== undefined) error.stack = stack;
    return Object.assign(error, fields);
  }
}
