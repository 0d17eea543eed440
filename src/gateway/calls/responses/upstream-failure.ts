import type { MethodDefinition } from "../../../api/definition.ts";
import {
  Failure,
  invalidParams,
  notFound,
  overloaded,
  rejected,
  unavailable,
  unsupported,
} from "../../../errors/failure.ts";
import type { Cancellation } from "../../../server/method-table.ts";
import { readBodyUpTo } from "../../upstream/client/fetch.ts";
import {
  type ErrorDetails,
  type ErrorResponse,
  isMissingColumns,
  isUnknownPath,
  isUnsupportedVersion,
  parseErrorBody,
} from "../../upstream/requests/error-response.ts";
import { hasUnknownOutcome, withUnknownOutcome } from "../../upstream/requests/submission.ts";
import type { UpstreamResponse } from "../../upstream/upstream-call.ts";

const MAX_ERROR_BYTES = 1024 * 1024;

/** Buffers the body of an error response. Returns other responses unchanged. */
export async function bufferErrorBody(
  response: UpstreamResponse,
  cancellation: Cancellation,
): Promise<UpstreamResponse | ErrorResponse> {
  const { status, body } = response;
  if (status < 400 || Buffer.isBuffer(body)) return response;
  return { ...response, body: await readBodyUpTo(body, MAX_ERROR_BYTES, cancellation.signal) };
}

/** Converts an error response to the failure that a JSON-RPC call to the upstream would return. */
export function toFailure(method: MethodDefinition, response: ErrorResponse): Failure {
  const { status, upstream } = response;
  const details = parseErrorBody(response);
  const message = details.message || `Upstream ${upstream} answered with HTTP status ${status}.`;
  switch (status) {
    case 400:
      if (isUnsupportedVersion(response)) return unsupportedByUpstream(method, upstream, message);
      return isMissingColumns(response) ? notFound(message) : toRejection(method, { ...details, message });
    case 404:
      return isUnknownPath(response, details) ? unsupportedByUpstream(method, upstream) : notFound(message);
    case 405:
    case 406:
    case 410:
    case 415:
      return unsupportedByUpstream(method, upstream, message);
    case 413:
    case 414:
      return new Failure("limit-exceeded", message);
    case 429:
      return overloaded(upstreamLimitMessage(upstream, details));
    case 501:
      return unsupported(message);
    case 503:
      return unavailable(message);
    default:
      return new Failure("server", serverErrorMessage(method, response, details.message));
  }
}

/** Returns the message for status 429 of an upstream, which is not caused by a client's budget at the gateway. */
export function upstreamLimitMessage(upstream: string, { message }: Pick<ErrorDetails, "message">): string {
  const problem = `Upstream ${upstream} answered with HTTP status 429${message && `: ${message}`}`.replace(/\.?$/, ".");
  return `${problem} The limit is that of the upstream, not of the gateway.`;
}

/** Other clients do not distinguish invalid parameters from a rejected object. */
function toRejection(
  { failures: kinds }: MethodDefinition,
  { message, kind, detail, failures }: ErrorDetails,
): Failure {
  const isRejected = kinds.includes("rejected") && kind !== "invalid-params";
  return (isRejected ? rejected : invalidParams)(message, { detail, failures });
}

function unsupportedByUpstream({ name }: MethodDefinition, upstream: string, message = ""): Failure {
  return unsupported(`Upstream ${upstream} does not support ${name}.${message && ` Its error: ${message}`}`);
}

function serverErrorMessage(method: MethodDefinition, response: ErrorResponse, errorMessage: string): string {
  const { upstream, status } = response;
  const failed = `Upstream ${upstream} failed with HTTP status ${status}${errorMessage === "" ? "." : `: ${errorMessage}`}`;
  return hasUnknownOutcome(method, response) ? withUnknownOutcome(failed) : failed;
}
