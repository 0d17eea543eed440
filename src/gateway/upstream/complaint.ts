import type { ItemFailure } from "../../errors/failure.ts";
import { mediaTypeOf } from "../../server/http/negotiation.ts";
import type { UpstreamResponse } from "../exchange.ts";

/** No more of what another node says is passed on. */
const LONGEST_MESSAGE = 1000;
const MOST_ITEMS = 10_000;

/** An answer of an upstream that is none, with all that is said about why. */
export interface Refusal extends UpstreamResponse {
  readonly body: Buffer;
}

export function isRefusal(response: UpstreamResponse): response is Refusal {
  return response.status >= 400 && Buffer.isBuffer(response.body);
}

/** What an upstream says is wrong. */
export interface Complaint {
  readonly message: string;
  readonly failures: ItemFailure[] | undefined;
}

export function readComplaint({ headers, body }: Pick<Refusal, "headers" | "body">): Complaint {
  const text = String(body).trim();
  if (isPage({ headers }) || text.startsWith("<")) return { message: "", failures: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: bounded(text), failures: undefined };
  }
  if (typeof value !== "object" || value === null) return { message: bounded(text), failures: undefined };
  const { message, title, detail, failures } = value as Record<string, unknown>;
  // Problem details (RFC 9457) have the other two.
  const said = typeof message === "string" ? [message] : [title, detail].filter((each) => typeof each === "string");
  return { message: bounded(said.join(": ")), failures: itemsOf(failures) };
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

/** Whether it is something for browsers, which no node writes, but what stands before one. */
export function isPage({ headers }: Pick<UpstreamResponse, "headers">): boolean {
  return mediaTypeOf(headers["content-type"]) === "text/html";
}

/** What Lighthouse says, with the status 400, of an operation that it has in other versions alone. */
const OTHER_VERSION = "Unsupported endpoint version";
/** What it says, with the same status, of blobs of which it does not hold enough columns. */
const FEW_COLUMNS = "Insufficient data columns";
const LONGEST_OF_LIGHTHOUSE = 1024;

/** Whether an upstream refuses a request because it does not have that version of an operation. */
export function lacksVersion(response: { status: number; body: unknown }): boolean {
  return isBadRequestWith(OTHER_VERSION, response);
}

/** Whether it refuses one because it does not hold enough of a block's data. */
export function lacksColumns(response: { status: number; body: unknown }): boolean {
  return isBadRequestWith(FEW_COLUMNS, response);
}

function isBadRequestWith(text: string, { status, body }: { status: number; body: unknown }): boolean {
  return status === 400 && Buffer.isBuffer(body) && body.length <= LONGEST_OF_LIGHTHOUSE && body.includes(text);
}

/** Of an operation, a method or a form that an upstream does not offer; Nimbus says 410 of what it does not any more. */
const LACKING: ReadonlySet<number> = new Set([405, 406, 410, 415, 501]);

/** Whether an upstream does not have what it was asked for on any chain. */
export function lacksOperation(response: UpstreamResponse): boolean {
  return LACKING.has(response.status) || lacksPath(response);
}

/** Whether it does not have a path at all. */
export function lacksPath(response: UpstreamResponse): boolean {
  if (!isRefusal(response)) return false;
  if (response.status === 405 || lacksVersion(response)) return true;
  return response.status === 404 && isUnknownPath(response, readComplaint(response).message);
}

/** What nodes answer at a path that they do not have, by which it is told from something that they do not know. */
const UNKNOWN_PATH = [
  /^There is nothing at \//,
  /^Route (GET|POST):\S* not found/i,
  /^NOT_FOUND$/,
  /^404 page not found/i,
  /endpoint .*not found/i,
];

export function isUnknownPath({ headers }: Refusal, message: string): boolean {
  const saysNothing = message === "" || (headers["content-type"] ?? "").startsWith("text/");
  return saysNothing || UNKNOWN_PATH.some((pattern) => pattern.test(message));
}
