import { OperationalError } from "./operational-error.ts";

/** Kinds of call errors, independent of the transport. Each server maps them to JSON-RPC codes or HTTP statuses. */
export type FailureKind =
  | "invalid-params"
  | "not-found"
  | "unavailable"
  | "rejected"
  | "unsupported"
  | "limit-exceeded"
  | "overloaded"
  | "server";

/** A rejected item of a submission of several items. */
export interface ItemFailure {
  index: number;
  message: string;
}

interface FailureDetails {
  /** Specific cause, if the message only names the kind of error. */
  detail?: string;
  failures?: ItemFailure[];
  rpc?: RpcErrorFields;
  cause?: unknown;
}

/** Code and data of a JSON-RPC error that replace those of its kind, where clients rely on them. */
export interface RpcErrorFields {
  code: number;
  data?: unknown;
}

/** Error of a call, thrown by handlers of methods. It has no stack trace. */
export class Failure extends OperationalError {
  readonly kind: FailureKind;
  readonly detail?: string;
  readonly failures?: ItemFailure[];
  readonly rpc?: RpcErrorFields;

  constructor(kind: FailureKind, message: string, { detail, failures, rpc, cause }: FailureDetails = {}) {
    // Capturing a stack trace costs more than most failing calls.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Failure";
    this.kind = kind;
    this.detail = detail;
    this.failures = failures;
    this.rpc = rpc;
  }
}

/** Failure of a call that exceeded a time limit of the server, unlike one that its client cancelled. */
export class TimeLimitFailure extends Failure {}

export const invalidParams = (message: string, details?: FailureDetails) =>
  new Failure("invalid-params", message, details);
export const notFound = (message: string, details?: FailureDetails) => new Failure("not-found", message, details);
export const unavailable = (message: string, details?: FailureDetails) => new Failure("unavailable", message, details);
export const rejected = (message: string, details?: FailureDetails) => new Failure("rejected", message, details);
export const overloaded = (message: string, details?: FailureDetails) => new Failure("overloaded", message, details);
export const unsupported = (message: string, details?: FailureDetails) => new Failure("unsupported", message, details);
