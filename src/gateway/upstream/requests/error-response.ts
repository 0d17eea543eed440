import type { ItemFailure } from "../../../errors/failure.ts";
import { truncate } from "../../../errors/truncate.ts";
import { mediaTypeOf } from "../../../server/http/response/negotiation.ts";
import type { UpstreamResponse } from "../upstream-call.ts";

/** Bounds how much of an upstream's error is forwarded. */
const MAX_MESSAGE_LENGTH = 1000;
const MAX_ITEMS = 10_000;

/** An error response with its whole body. */
export interface ErrorResponse extends UpstreamResponse {
  readonly body: Buffer;
}

export function isErrorResponse(response: UpstreamResponse): response is ErrorResponse {
  return response.status >= 400 && Buffer.isBuffer(response.body);
}

/** The content of an error response. */
export interface ErrorDetails {
  readonly message: string;
  /** Sent only by Fanal. */
  readonly kind?: string | undefined;
  /** Sent only by Fanal. */
  readonly detail?: string | undefined;
  readonly failures: ItemFailure[] | undefined;
}

export function parseErrorBody({ headers, body }: Pick<ErrorResponse, "headers" | "body">): ErrorDetails {
  const text = String(body).trim();
  if (isHtml({ headers }) || text.startsWith("<")) return { message: "", failures: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: truncate(text, MAX_MESSAGE_LENGTH), failures: undefined };
  }
  if (typeof value !== "object" || value === null)
    return { message: truncate(text, MAX_MESSAGE_LENGTH), failures: undefined };
  const { message, title, kind, detail, failures } = value as Record<string, unknown>;
  // RFC 9457 problem details.
  const parts = typeof message === "string" ? [message] : [title, detail].filter((each) => typeof each === "string");
  const own =
    typeof kind === "string"
      ? { kind, detail: typeof detail === "string" ? truncate(detail, MAX_MESSAGE_LENGTH) : undefined }
      : {};
  return { message: truncate(parts.join(": "), MAX_MESSAGE_LENGTH), ...own, failures: parseItems(failures) };
}

function parseItems(failures: unknown): ItemFailure[] | undefined {
  if (!Array.isArray(failures)) return undefined;
  return failures.slice(0, MAX_ITEMS).flatMap((item: unknown) => {
    const { index, message } = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
    const position = Number(index);
    return Number.isSafeInteger(position) && typeof message === "string"
      ? [{ index: position, message: truncate(message, MAX_MESSAGE_LENGTH) }]
      : [];
  });
}

/** True for HTML, which no beacon node sends, but proxies do. */
export function isHtml({ headers }: Pick<UpstreamResponse, "headers">): boolean {
  return mediaTypeOf(headers["content-type"]) === "text/html";
}

/** Lighthouse: status 400 for an operation that it has only in other versions. */
const UNSUPPORTED_VERSION = "Unsupported endpoint version";
/** Lighthouse: status 400 for blobs if it holds too few columns. */
const MISSING_COLUMNS = "Insufficient data columns";
const MAX_LIGHTHOUSE_ERROR_BYTES = 1024;

/** True if the upstream does not have this version of the operation. */
export function isUnsupportedVersion(response: { status: number; body: unknown }): boolean {
  return isBadRequestWith(UNSUPPORTED_VERSION, response);
}

/** True if the upstream does not hold enough of a block's data columns. */
export function isMissingColumns(response: { status: number; body: unknown }): boolean {
  return isBadRequestWith(MISSING_COLUMNS, response);
}

function isBadRequestWith(text: string, { status, body }: { status: number; body: unknown }): boolean {
  return status === 400 && Buffer.isBuffer(body) && body.length <= MAX_LIGHTHOUSE_ERROR_BYTES && body.includes(text);
}

/** Statuses for an unsupported operation, method or media type. Nimbus sends 410 for removed operations. */
const UNSUPPORTED: ReadonlySet<number> = new Set([405, 406, 410, 415, 501]);

/** True if the upstream does not support the operation at all. */
export function isUnsupportedOperation(response: UpstreamResponse): boolean {
  return UNSUPPORTED.has(response.status) || isUnsupportedPath(response);
}

/** True if the upstream does not have the path at all. */
export function isUnsupportedPath(response: UpstreamResponse): boolean {
  if (!isErrorResponse(response)) return false;
  if (response.status === 405 || isUnsupportedVersion(response)) return true;
  return response.status === 404 && isUnknownPath(response, parseErrorBody(response));
}

/** Messages of other clients for a 404 about an unknown path, as opposed to an unknown object. */
const UNKNOWN_PATH_MESSAGES = [
  /^Route (GET|POST):\S* not found/i,
  /^NOT_FOUND$/,
  /^404 page not found/i,
  /endpoint .*not found/i,
];

/** True if a 404 is about the path. */
export function isUnknownPath({ headers }: ErrorResponse, { kind, message }: ErrorDetails): boolean {
  if (kind !== undefined) return kind === "unsupported";
  const saysNothing = message === "" || (headers["content-type"] ?? "").startsWith("text/");
  return saysNothing || UNKNOWN_PATH_MESSAGES.some((pattern) => pattern.test(message));
}
