import { FAILURES, Failure, type FailureKind, type ItemFailure } from "../../errors/failure.ts";

/** An error with an HTTP status and headers. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly kind: FailureKind | undefined;

  constructor(status: number, message: string, headers: Record<string, string> = {}, kind?: FailureKind) {
    super(message);
    this.name = "HttpError";
    this.status = status;
    this.headers = headers;
    this.kind = kind;
  }
}

export const UNREAD_LIMIT_MESSAGE = "The memory limit for unread responses is reached. Request less, or retry later.";

/** Contents of an error response. */
interface ErrorResponse {
  status: number;
  message: string;
  kind?: FailureKind | undefined;
  detail?: string;
  failures?: ItemFailure[];
  headers?: Record<string, string>;
}

/**
 * Returns the error response for a thrown value. Unexpected errors are reported as "Internal error" without details.
 */
export function toErrorResponse(thrown: unknown): ErrorResponse {
  if (thrown instanceof HttpError) return thrown;
  if (!(thrown instanceof Failure)) return { status: 500, message: "Internal error" };
  const { kind, message, detail, failures } = thrown;
  return { status: FAILURES[kind].status, message, kind, detail, failures };
}

/**
 * Returns an error body as defined by the Beacon API. Gateways need `kind` and `detail`, which they cannot derive from
 * the status.
 */
export function errorBody(
  code: number,
  message: string,
  { kind, detail, failures }: Pick<ErrorResponse, "kind" | "detail" | "failures"> = {},
): Buffer {
  // JSON.stringify omits undefined members.
  return Buffer.from(JSON.stringify({ code, message, kind, detail, failures }));
}
