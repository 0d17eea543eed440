import { FAILURES, Failure, type ItemFailure } from "../../errors/failure.ts";
import { truncate } from "../../errors/truncate.ts";
import { JsonLimitError, type JsonParseError } from "../../json/parse.ts";
import type { BudgetRejection } from "../http/access/api-clients.ts";
import { toErrorResponse } from "../http/http-error.ts";

/** The `error` member of a response (JSON-RPC 2.0, section 5.1). */
export interface ErrorObject {
  code: number;
  message: string;
  data: ErrorData;
}

interface ErrorData {
  /** HTTP status of the equivalent error in the REST API. */
  status: number;
  detail?: string;
  failures?: ItemFailure[];
  /** Number of seconds until the budget allows another call. */
  retry_after?: number;
}

const INTERNAL_ERROR = -32603;

/** Longer names are truncated in messages, and no similar name is suggested for them. */
const MAX_QUOTED_NAME = 100;

/** Returns the error for a message that is not valid JSON or exceeds a limit of the parser. */
export function unreadable(error: JsonParseError): ErrorObject {
  if (error instanceof JsonLimitError) return invalidRequest(error.message);
  return { code: -32700, message: "The request is not valid JSON.", data: { status: 400, detail: error.message } };
}

export function invalidRequest(message: string): ErrorObject {
  return { code: -32600, message, data: { status: 400 } };
}

export function methodNotFound(name: string, suggest?: (name: string) => string | undefined): ErrorObject {
  const quoted = JSON.stringify(truncate(name, MAX_QUOTED_NAME));
  const similar = name.length > MAX_QUOTED_NAME ? undefined : suggest?.(name);
  const hint = similar === undefined ? "" : ` Did you mean "${similar}"?`;
  return { code: -32601, message: `The method ${quoted} does not exist.${hint}`, data: { status: 404 } };
}

/** Returns the error for a method that the caller may not use. */
export function accessDenied(message: string): ErrorObject {
  return { code: FAILURES.unsupported.code, message, data: { status: 403 } };
}

/** Returns the error for a call that exceeds the client's budget. */
export function budgetExceeded({ message, retryAfterSeconds }: BudgetRejection): ErrorObject {
  return { code: FAILURES["limit-exceeded"].code, message, data: { status: 429, retry_after: retryAfterSeconds } };
}

/** Returns the error for a thrown value. */
export function toErrorObject(thrown: unknown): ErrorObject {
  if (thrown instanceof Failure && thrown.rpc) {
    // Such an error has its own data format.
    return { code: thrown.rpc.code, message: thrown.message, data: thrown.rpc.data as ErrorData };
  }
  const code = thrown instanceof Failure ? FAILURES[thrown.kind].code : INTERNAL_ERROR;
  const { status, message, detail, failures } = toErrorResponse(thrown);
  // JSON.stringify omits undefined members.
  return { code, message, data: { status, detail, failures } };
}
