import type { Method } from "../../api/definition.ts";
import { isTrue } from "../../api/schemas.ts";
import { encodeJson } from "../../json/encode.ts";
import { UPSTREAM_HEADER } from "../../server/http/access-log.ts";
import type { Answer } from "../../server/method-table.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { isRefusal } from "../upstream/complaint.ts";
import { findData, type Meta, openData } from "./data-scanner.ts";
import { failureOf } from "./failures.ts";

/** Operations whose REST body is the result itself. */
const WITHOUT_DATA: ReadonlySet<string> = new Set(["get_v1_debug_fork_choice", "get_v1_beacon_light_client_updates"]);

/** Makes the metadata of a method of that of the operation which is asked in its place. */
export type Beside = (meta: Meta) => Meta;

const asItIs: Beside = (meta) => meta;

/** Whether REST answers an operation by its status alone. */
export function isAnsweredByStatus({ access, result, resultOfStatus }: Method): boolean {
  return resultOfStatus !== undefined || (access === "submit" && result.schema === isTrue);
}

/** Of what is kept in memory, and so is the same object every time it is given, what was made of it. */
const keptAnswers = new WeakMap<UpstreamResponse, { method: Method; answer: Answer }>();

/**
 * The result of a call, of what an upstream answered to its REST twin; throws a `Failure` when it refused. There is a promise only for
 * what is a stream.
 */
export function answerOf(
  method: Method,
  response: UpstreamResponse,
  beside: Beside = asItIs,
): Answer | Promise<Answer> {
  const made = response.kept === "memory" ? keptAnswers.get(response) : undefined;
  if (made?.method === method) return made.answer;
  if (isRefusal(response)) throw failureOf(method, response);
  const { body } = response;
  if (!Buffer.isBuffer(body)) return streamedAnswer(method, response, body, beside);
  const answer = wholeAnswer(method, response, body, beside);
  if (response.kept === "memory") keptAnswers.set(response, { method, answer });
  return answer;
}

function wholeAnswer(method: Method, response: UpstreamResponse, body: Buffer, beside: Beside): Answer {
  if (isAnsweredByStatus(method) || body.length === 0) return answerByStatus(method, response);
  if (WITHOUT_DATA.has(method.name)) return { body, headers: originOf(response) };
  const { data, meta } = findData(body, response.upstream);
  const told = beside(underMeta(meta));
  return { body: data, meta: told, headers: headersOf(told, response) };
}

async function streamedAnswer(
  method: Method,
  response: UpstreamResponse,
  body: AsyncIterable<Buffer>,
  beside: Beside,
): Promise<Answer> {
  if (isAnsweredByStatus(method)) {
    await body[Symbol.asyncIterator]().return?.();
    return answerByStatus(method, response);
  }
  const headers = originOf(response);
  if (WITHOUT_DATA.has(method.name)) return { body, headers };
  const { data, meta } = await openData(body, response.upstream);
  // It is complete, and written, when the stream has ended.
  const told = { toJSON: () => beside(underMeta(meta)) };
  return { body: data, meta: told, headers: { ...headers, ...standardHeaders(response) } };
}

function answerByStatus({ resultOfStatus = () => true }: Method, response: UpstreamResponse): Answer {
  return { body: encodeJson(resultOfStatus(response.status)), headers: originOf(response) };
}

/** The node that gave an answer, and where it was kept since then. */
export function originOf({ upstream, kept }: Pick<UpstreamResponse, "upstream" | "kept">): Record<string, string> {
  return kept === undefined ? { [UPSTREAM_HEADER]: upstream } : { [UPSTREAM_HEADER]: upstream, "Fanal-Kept": kept };
}

/** The headers of the standard that an upstream sent. */
export function standardHeaders({ headers }: Pick<UpstreamResponse, "headers">): Record<string, string> {
  const standard: Record<string, string> = {};
  for (const name in headers) {
    if (name.startsWith("eth-")) standard[asWritten(name)] = headers[name]!;
  }
  return standard;
}

/** No more names are remembered than a node has of its own, whatever somebody on the way adds. */
const MOST_NAMES = 64;
const writtenNames = new Map<string, string>();

function asWritten(name: string): string {
  const known = writtenNames.get(name);
  if (known !== undefined) return known;
  const written = name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  if (writtenNames.size < MOST_NAMES) writtenNames.set(name, written);
  return written;
}

/** One operation has all of its metadata under one name. */
function underMeta(beside: Meta): Meta {
  const { meta } = beside;
  return typeof meta === "object" && meta !== null ? (meta as Meta) : beside;
}

/** The headers that a node sets for its metadata, by the names that these have in a body. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ["version", "Eth-Consensus-Version"],
  ["execution_optimistic", "Eth-Execution-Optimistic"],
  ["finalized", "Eth-Consensus-Finalized"],
  ["dependent_root", "Eth-Consensus-Dependent-Root"],
  ["execution_payload_blinded", "Eth-Execution-Payload-Blinded"],
  ["execution_payload_value", "Eth-Execution-Payload-Value"],
  ["consensus_block_value", "Eth-Consensus-Block-Value"],
  ["execution_payload_source", "Eth-Execution-Payload-Source"],
]);

/** Those of metadata that many answers have in common, by who gave the last of them. */
const knownHeaders = new WeakMap<Meta, Pick<UpstreamResponse, "upstream" | "kept" | "headers">>();

/** Not every upstream sets all of them itself. */
function headersOf(meta: Meta, { upstream, kept }: UpstreamResponse): Readonly<Record<string, string>> {
  const known = knownHeaders.get(meta);
  if (known?.upstream === upstream && known.kept === kept) return known.headers;
  const headers = originOf({ upstream, kept });
  for (const member in meta) {
    const name = HEADERS.get(member);
    const value = String(meta[member]);
    if (name !== undefined && /^[\w.-]+$/.test(value)) headers[name] = value;
  }
  knownHeaders.set(meta, { upstream, kept, headers });
  return headers;
}
