import type { Method } from "../../api/definition.ts";
import {
  Failure,
  invalidParams,
  notFound,
  overloaded,
  rejected,
  unavailable,
  unsupported,
} from "../../errors/failure.ts";
import type { Waiting } from "../../server/method-table.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { bodyUpTo } from "../upstream/ask.ts";
import {
  type Complaint,
  isUnknownPath,
  lacksColumns,
  lacksVersion,
  type Refusal,
  readComplaint,
} from "../upstream/complaint.ts";
import { mayHaveBeenTaken, OUTCOME_UNKNOWN } from "../upstream/submission.ts";

const LARGEST_ERROR_BYTES = 1024 * 1024;

/** An answer as it came, but for one that is none, whose body is read as long as somebody waits for it. */
export async function readRefusal(response: UpstreamResponse, waiting: Waiting): Promise<UpstreamResponse | Refusal> {
  const { status, body } = response;
  if (status < 400 || Buffer.isBuffer(body)) return response;
  return { ...response, body: await bodyUpTo(body, LARGEST_ERROR_BYTES, waiting.signal) };
}

/** The failure of a call that an upstream refused: as the call of the upstream itself would have failed, as far as REST tells. */
export function failureOf(method: Method, response: Refusal): Failure {
  const { status, upstream } = response;
  const complaint = readComplaint(response);
  const message = complaint.message || `The upstream ${upstream} answered with the status ${status}.`;
  switch (status) {
    case 400:
      if (lacksVersion(response)) return lacks(method, upstream, message);
      return lacksColumns(response) ? notFound(message) : refusalOf(method, { ...complaint, message });
    case 404:
      return isUnknownPath(response, complaint.message) ? lacks(method, upstream) : notFound(message);
    case 405:
    case 406:
    case 410:
    case 415:
      return lacks(method, upstream, message);
    case 413:
    case 414:
      return new Failure("limit-exceeded", message);
    case 429:
      return overloaded(message);
    case 501:
      return unsupported(message);
    case 503:
      return unavailable(message);
    default:
      return new Failure("server", failedText(method, response, complaint.message));
  }
}

/** What the texts of a node about wrong parameters begin with; all others are about what was submitted. */
const ABOUT_PARAMETERS =
  /^(The parameter "|Item \d+ of the parameter|The body |The header |The query |The fork given by )/;
/** What the texts of a node about refused objects begin with, before the reason. */
const REFUSED = /^The (?:submission|block) was rejected: (?:\d+ of \d+ items: )?/;

function refusalOf({ failures: met }: Method, { message, failures }: Complaint): Failure {
  const isRejected = met.includes("rejected") && !ABOUT_PARAMETERS.test(message);
  const detail = REFUSED.test(message) ? message.replace(REFUSED, "") : undefined;
  return (isRejected ? rejected : invalidParams)(message, { detail, failures });
}

function lacks({ name }: Method, upstream: string, message = ""): Failure {
  return unsupported(
    `The upstream ${upstream} does not have what ${name} asks for.${message && ` It says: ${message}`}`,
  );
}

function failedText(method: Method, response: Refusal, said: string): string {
  const { upstream, status } = response;
  const failed = `The upstream ${upstream} failed with the status ${status}${said === "" ? "." : `: ${said}`}`;
  return mayHaveBeenTaken(method, response) ? `${failed} ${OUTCOME_UNKNOWN}` : failed;
}
