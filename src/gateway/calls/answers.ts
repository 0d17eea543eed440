import type { Method } from "../../api/definition.ts";
import { isTrue } from "../../api/schemas.ts";
import { encodeJson } from "../../json/encode.ts";
import { UPSTREAM_HEADER } from "../../server/http/access-log.ts";
import type { Answer } from "../../server/method-table.ts";
import type { UpstreamResponse } from "../exchange.ts";
import { findData, type Meta, openData } from "./data-scanner.ts";
import { failureOf, isRefusal } from "./failures.ts";

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

/** The result of a call, of what an upstream answered to its REST twin; throws a `Failure` when it refused. */
export async function answerOf(method: Method, response: UpstreamResponse, beside: Beside = asItIs): Promise<Answer> {
  if (response.kept !== "memory") return newAnswer(method, response, beside);
  const made = keptAnswers.get(response);
  if (made?.method === method) return made.answer;
  const answer = await newAnswer(method, response, beside);
  keptAnswers.set(response, { method, answer });
  return answer;
}

async function newAnswer(method: Method, response: UpstreamResponse, beside: Beside): Promise<Answer> {
  if (isRefusal(response)) throw failureOf(method, response);
  const { status, body, upstream } = response;
  const origin = originOf(response);
  if (isAnsweredByStatus(method) || (Buffer.isBuffer(body) && body.length === 0)) {
    if (!Buffer.isBuffer(body)) await body[Symbol.asyncIterator]().return?.();
    const { resultOfStatus = () => true } = method;
    return { body: encodeJson(resultOfStatus(status)), headers: origin };
  }
  if (WITHOUT_DATA.has(method.name)) return { body, headers: origin };
  if (Buffer.isBuffer(body)) {
    const { data, meta } = findData(body, upstream);
    const told = beside(underMeta(meta));
    return { body: data, meta: told, headers: headersOf(told, origin) };
  }
  const { data, meta } = await openData(body, upstream);
  // It is complete, and written, when the stream has ended.
  const told = { toJSON: () => beside(underMeta(meta)) };
  return { body: data, meta: told, headers: { ...origin, ...standardHeaders(response) } };
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

/** Not every upstream sets all of them itself. */
function headersOf(meta: Meta, origin: Record<string, string>): Record<string, string> {
  for (const member in meta) {
    const name = HEADERS.get(member);
    const value = String(meta[member]);
    if (name !== undefined && /^[\w.-]+$/.test(value)) origin[name] = value;
  }
  return origin;
}
