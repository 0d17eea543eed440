// biome-ignore lint/suspicious/noExplicitAny: errors are created without their constructors.
type ErrorClass = abstract new (...args: any[]) => Error;

/** An error on its way to another thread. */
export interface SerializedError {
  className: string;
  message: string;
  stack: string | undefined;
  /** Own fields, such as `code`. */
  fields: Record<string, unknown>;
}

/** Error classes that are kept across threads. Their fields have to be cloneable. Others become plain errors. */
export class ErrorRegistry {
  readonly #classes: ReadonlyMap<string, ErrorClass>;

  constructor(classes: readonly ErrorClass[] = []) {
    this.#classes = new Map(classes.map((errorClass) => [errorClass.name, errorClass]));
  }

  serialize(thrown: unknown): SerializedError {
    if (!(thrown instanceof Error))
      return { className: "Error", message: String(thrown), stack: undefined, fields: {} };
    const { message, stack } = thrown;
    const className = thrown.constructor.name;
    const fields = this.#classes.has(className) ? { ...thrown } : { name: thrown.name };
    return { className, message, stack, fields };
  }

  /** Restores an error with its class, its fields and its original stack. */
  deserialize({ className, message, stack, fields }: SerializedError): Error {
    const error = new Error(message);
    const errorClass = this.#classes.get(className);
    if (errorClass !== undefined) Object.setPrototypeOf(error, errorClass.prototype);
    if (stack !== undefined) error.stack = stack;
    return Object.assign(error, fields);
  }
}
