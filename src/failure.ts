import { ForeseenError } from "./foreseen-error.ts";

/**
 * What can go wrong with a call, said once for every transport. A handler throws a `Failure` and never knows which one
 * asked; each server translates the kind into its own language (a JSON-RPC code, an HTTP status).
 */
export type FailureKind =
  | "invalid-params"
  | "not-found"
  | "unavailable"
  | "rejected"
  | "unsupported"
  | "limit-exceeded"
  | "overloaded"
  | "server";

/** One refused item of a submission that carried several. */
export interface ItemFailure {
  index: number;
  message: string;
}

interface FailureDetails {
  /** What exactly was wrong, when the message alone names only the kind of mistake. */
  detail?: string;
  failures?: ItemFailure[];
  cause?: unknown;
}

export class Failure extends ForeseenError {
  readonly kind: FailureKind;
  readonly detail?: string;
  readonly failures?: ItemFailure[];

  constructor(kind: FailureKind, message: string, { detail, failures, cause }: FailureDetails = {}) {
    // Nobody looks at the stack, and to take it down costs more than most calls that are refused.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Failure";
    this.kind = kind;
    this.detail = detail;
    this.failures = failures;
  }
}

export const invalidParams = (message: string, details?: FailureDetails) =>
  new Failure("invalid-params", message, details);
export const notFound = (message: string, details?: FailureDetails) => new Failure("not-found", message, details);
export const unavailable = (message: string, details?: FailureDetails) => new Failure("unavailable", message, details);
export const rejected = (message: string, details?: FailureDetails) => new Failure("rejected", message, details);
export const overloaded = (message: string, details?: FailureDetails) => new Failure("overloaded", message, details);
export const unsupported = (message: string, details?: FailureDetails) => new Failure("unsupported", message, details);
