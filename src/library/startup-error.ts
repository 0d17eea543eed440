/** Reasons why a chain failed to start. */
export type StartupErrorKind =
  | "invalid-option"
  | "port-in-use"
  | "data-dir-in-use"
  | "data-dir-mismatch"
  | "data-dir-unusable"
  | "unreadable-file"
  | "no-execution-client";

/** Error from `startDevChain` that the caller can fix. The message names the options. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly kind: StartupErrorKind;

  constructor(kind: StartupErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
