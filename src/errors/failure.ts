import { OperationalError } from "./operational-error.ts";

/** Kinds of call errors, independent of the transport. `FAILURES` lists their codes. */
export type FailureKind =
  | "invalid-params"
  | "not-found"
  | "unavailable"
  | "rejected"
  | "unsupported"
  | "limit-exceeded"
  | "overloaded"
  | "server";

interface FailureForm {
  /** JSON-RPC error code; -32001 to -32005 follow EIP-1474. */
  code: number;
  /** HTTP status. */
  status: number;
  title: string;
  description: string;
}

/** Codes and descriptions of failures over JSON-RPC and HTTP, in documentation order. */
export const FAILURES: Readonly<Record<FailureKind, FailureForm>> = {
  "invalid-params": {
    code: -32602,
    status: 400,
    title: "Invalid params",
    description: "Wrong count, type, format or range of parameters, or a payload that cannot be decoded.",
  },
  "not-found": {
    code: -32001,
    status: 404,
    title: "Not found",
    description: "A well-formed reference to something absent.",
  },
  unavailable: {
    code: -32002,
    status: 503,
    title: "Unavailable",
    description:
      "The node is not initialised or is syncing, its head is only optimistically verified, or its execution node is offline.",
  },
  rejected: {
    code: -32003,
    status: 400,
    title: "Rejected",
    description: "A well-formed submission failed validation.",
  },
  unsupported: {
    code: -32004,
    status: 501,
    title: "Unsupported",
    description: "The method cannot be served in this build, configuration or fork, or is not served to this caller.",
  },
  "limit-exceeded": {
    code: -32005,
    status: 413,
    title: "Limit exceeded",
    description: "A limit on batches or answers.",
  },
  overloaded: {
    code: -32005,
    status: 503,
    title: "Overloaded",
    description: "Too many calls of this cost are running and queued; retry later.",
  },
  server: {
    code: -32000,
    status: 500,
    title: "Server error",
    description: "The node is shutting down, or the call took too long.",
  },
};

/** A rejected item in a submission of several items. */
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

/** JSON-RPC error code and data that override those of the failure kind, where clients rely on them. */
export interface RpcErrorFields {
  code: number;
  data?: unknown;
}

/** Call error thrown by method handlers. Has no stack trace. */
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

/** Failure of a call that exceeded a server time limit, as opposed to a call cancelled by its client. */
export class TimeLimitFailure extends Failure {}

export const invalidParams = (message: string, details?: FailureDetails) =>
  new Failure("invalid-params", message, details);
export const notFound = (message: string, details?: FailureDetails) => new Failure("not-found", message, details);
export const unavailable = (message: string, details?: FailureDetails) => new Failure("unavailable", message, details);
export const rejected = (message: string, details?: FailureDetails) => new Failure("rejected", message, details);
export const overloaded = (message: string, details?: FailureDetails) => new Failure("overloaded", message, details);
export const unsupported = (message: string, details?: FailureDetails) => new Failure("unsupported", message, details);
