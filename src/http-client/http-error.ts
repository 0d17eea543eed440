import { errorCode } from "../errors/error-code.ts";

/** Limits that the client itself enforces. All other errors come from undici and the system. */
type HttpErrorCode = "ERR_BODY_TOO_LARGE" | "ERR_TOO_MANY_HEADERS" | "ERR_TOO_MANY_INTERIM_RESPONSES" | "ERR_CLOSED";

/** A limit of the client was exceeded, or the client was closed. The message is a clause without a period. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string) {
    super(message);
    this.name = "HttpError";
    this.code = code;
  }
}

/** True if the server closed or reset the connection. */
export function isConnectionLoss(error: Error): boolean {
  const code = errorCode(error);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

/** The message of an error. A host name with several addresses has one error for each attempt. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(messageOf))].join(", ");
  return error instanceof Error ? error.message : String(error);
}
