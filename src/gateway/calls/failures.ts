import type { Method } from "../../api/definition.ts";
import {
  Failure,
  type ItemFailure,
  invalidParams,
  notFound,
  overloaded,
  rejected,
  unavailable,
  unsupported,
} from "../../failure.ts";
import type { Waiting } from "../../server/method-table.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { bodyUpTo } from "../upstream/ask.ts";
import { isPage, lacksVersion } from "../upstream/verdict.ts";

/** No more of what another node says is passed on. */
const LONGEST_MESSAGE = 1000;
const MOST_ITEMS = 10_000;
const LARGEST_ERROR_BYTES = 1024 * 1024;

/** An answer of an upstream that is none, with all that is said about why. */
export interface Refusal extends UpstreamResponse {
  readonly body: Buffer;
}

/** An answer as it came, but for one that is none, whose body is read as long as somebody waits for it. */
export async function readRefusal(response: UpstreamResponse, waiting: Waiting): Promise<UpstreamResponse | Refusal> {
  const { status, body } = response;
  if (status < 400 || Buffer.isBuffer(body)) return response;
  return { ...response, body: await bodyUpTo(body, LARGEST_ERROR_BYTES, waiting.signal) };
}

export function isRefusal(response: UpstreamResponse): response is Refusal {
  return response.status >= 400 && Buffer.isBuffer(response.body);
}

/** What an upstream says is wrong. */
interface Complaint {
  readonly message: string;
  readonly failures: ItemFailure[] | undefined;
}

/** The failure of a call that an upstream refused: as the call of the upstream itself would have failed, as far as REST tells. */
export function failureOf(method: Method, response: Refusal): Failure {
  const { status, upstream } = response;
  const complaint = readComplaint(response);
  const message = complaint.message || `The upstream ${upstream} answered with the status ${status}.`;
  switch (status) {
    case 400:
      return lacksVersion(response) ? lacks(method, upstream, message) : refusalOf(method, { ...complaint, message });
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
      return new Failure("server", `The upstream ${upstream} failed with the status ${status}: ${message}`);
  }
}

/** What the texts of a node about wrong parameters begin with; all others are about what was submitted. */
const ABOUT_PARAMETERS = /^(The parameter "|Item \d+ of the parameter|The body |The header |The query )/;
/** What the texts of a node about refused objects begin with, before the reason. */
const REFUSED = /^The (?:submission|block) was rejected: (?:\d+ of \d+ items: )?/;

function refusalOf({ failures: met }: Method, { message, failures }: Complaint): Failure {
  const isRejected = met.includes("rejected") && !ABOUT_PARAMETERS.test(message);
  const detail = REFUSED.test(message) ? message.replace(REFUSED, "") : undefined;
  return (isRejected ? rejected : invalidParams)(message, { detail, failures });
}

/** What nodes answer at a path that they do not have, by which it is told from something that they do not know. */
const UNKNOWN_PATH = [
  /^There is nothing at \//,
  /^Route (GET|POST):\S* not found/i,
  /^NOT_FOUND$/,
  /^404 page not found/i,
  /endpoint .*not found/i,
];

function isUnknownPath({ headers }: Refusal, message: string): boolean {
  const saysNothing = message === "" || (headers["content-type"] ?? "").startsWith("text/");
  return saysNothing || UNKNOWN_PATH.some((pattern) => pattern.test(message));
}

/** Whether an upstream does not have a path at all. */
export function lacksPath(response: UpstreamResponse): boolean {
  if (!isRefusal(response)) return false;
  if (response.status === 405 || lacksVersion(response)) return true;
  return response.status === 404 && isUnknownPath(response, readComplaint(response).message);
}

function lacks({ name }: Method, upstream: string, message = ""): Failure {
  return unsupported(
    `The upstream ${upstream} does not have what ${name} asks for.${message && ` It says: ${message}`}`,
  );
}

function readComplaint({ headers, body }: Refusal): Complaint {
  if (isPage({ headers })) return { message: "", failures: undefined };
  const text = String(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: bounded(text), failures: undefined };
  }
  if (typeof value !== "object" || value === null) return { message: bounded(text), failures: undefined };
  const { message, title, failures } = value as Record<string, unknown>;
  const said = [message, title].find((each) => typeof each === "string");
  return { message: bounded((said as string | undefined) ?? ""), failures: itemsOf(failures) };
}

function itemsOf(failures: unknown): ItemFailure[] | undefined {
  if (!Array.isArray(failures)) return undefined;
  return failures.slice(0, MOST_ITEMS).flatMap((item: unknown) => {
    const { index, message } = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
    const position = Number(index);
    return Number.isSafeInteger(position) && typeof message === "string"
      ? [{ index: position, message: bounded(message) }]
      : [];
  });
}

function bounded(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`;
}
