import { errorCode } from "../errors/error-code.ts";

/** Limits enforced by the client itself. All other errors come from undici or the operating system. */
type HttpErrorCode = "ERR_BODY_TOO_LARGE" | "ERR_TOO_MANY_HEADERS" | "ERR_TOO_MANY_INTERIM_RESPONSES" | "ERR_CLOSED";

/** Thrown when a limit of the client is exceeded or the client is closed. The message is a clause without a period. */
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

/** Returns an error's message. A host name with several addresses yields one error per attempted address. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(messageOf))].join(", ");
  return error instanceof Error ? error.message : String(error);
}
