import type { MethodDefinition } from "../../../api/definition.ts";
import { encodeJson } from "../../../json/encode.ts";
import { UPSTREAM_HEADER } from "../../../server/http/access-log.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import { isErrorResponse } from "../../upstream/requests/error-response.ts";
import type { UpstreamResponse } from "../../upstream/upstream-call.ts";
import { findData, type Metadata, streamData } from "./data-scanner.ts";
import { isStatusOnly, isWrapped } from "./response-form.ts";
import { toFailure } from "./upstream-failure.ts";

/** Converts the metadata of an operation to that of the method it serves. */
export type TransformMetadata = (meta: Metadata) => Metadata;

const identity: TransformMetadata = (meta) => meta;

/** Answers created from cached responses, which are the same object on every hit. */
const cachedAnswers = new WeakMap<UpstreamResponse, { method: MethodDefinition; answer: MethodResponse }>();

/**
 * Converts a REST response to the answer of a JSON-RPC call. Throws a `Failure` for an error response. Returns a
 * promise only for streams.
 */
export function toRpcAnswer(
  method: MethodDefinition,
  response: UpstreamResponse,
  transform: TransformMetadata = identity,
): MethodResponse | Promise<MethodResponse> {
  const cached = response.cachedIn === "memory" ? cachedAnswers.get(response) : undefined;
  if (cached?.method === method) return cached.answer;
  if (isErrorResponse(response)) throw toFailure(method, response);
  const { body } = response;
  if (!Buffer.isBuffer(body)) return streamedAnswer(method, response, body, transform);
  const answer = bufferedAnswer(method, response, body, transform);
  if (response.cachedIn === "memory") cachedAnswers.set(response, { method, answer });
  return answer;
}

function bufferedAnswer(
  method: MethodDefinition,
  response: UpstreamResponse,
  body: Buffer,
  transform: TransformMetadata,
): MethodResponse {
  if (method.mayBeEmpty && body.length === 0) return { body: encodeJson(null), headers: upstreamHeaders(response) };
  if (isStatusOnly(method) || body.length === 0) return answerByStatus(method, response);
  if (!isWrapped(method)) return { body, headers: upstreamHeaders(response) };
  const { data, meta } = findData(body, response.upstream);
  const metadata = transform(unwrapMeta(meta));
  return { body: data, meta: metadata, headers: metadataHeaders(metadata, response) };
}

async function streamedAnswer(
  method: MethodDefinition,
  response: UpstreamResponse,
  body: AsyncIterable<Buffer>,
  transform: TransformMetadata,
): Promise<MethodResponse> {
  if (isStatusOnly(method)) {
    await body[Symbol.asyncIterator]().return?.();
    return answerByStatus(method, response);
  }
  const headers = upstreamHeaders(response);
  if (!isWrapped(method)) return { body, headers };
  const { data, meta } = await streamData(body, response.upstream);
  // Complete only when the stream has ended.
  const metadata = { toJSON: () => transform(unwrapMeta(meta)) };
  return { body: data, meta: metadata, headers: { ...headers, ...ethHeaders(response) } };
}

function answerByStatus(
  { resultForStatus = () => true }: MethodDefinition,
  response: UpstreamResponse,
): MethodResponse {
  return { body: encodeJson(resultForStatus(response.status)), headers: upstreamHeaders(response) };
}

/** Returns the headers that name the upstream and the cache. */
export function upstreamHeaders({
  upstream,
  cachedIn,
}: Pick<UpstreamResponse, "upstream" | "cachedIn">): Record<string, string> {
  return cachedIn === undefined
    ? { [UPSTREAM_HEADER]: upstream }
    : { [UPSTREAM_HEADER]: upstream, "Fanal-Kept": cachedIn };
}

/** Returns the `Eth-` headers of a response. */
export function ethHeaders({ headers }: Pick<UpstreamResponse, "headers">): Record<string, string> {
  const standard: Record<string, string> = {};
  for (const name in headers) {
    if (name.startsWith("eth-")) standard[canonicalHeaderName(name)] = headers[name]!;
  }
  return standard;
}

/** Bounds the cache against arbitrary header names. */
const MAX_HEADER_NAMES = 64;
const headerNames = new Map<string, string>();

function canonicalHeaderName(name: string): string {
  const known = headerNames.get(name);
  if (known !== undefined) return known;
  const written = name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  if (headerNames.size < MAX_HEADER_NAMES) headerNames.set(name, written);
  return written;
}

/** One operation nests its metadata under `meta`. */
function unwrapMeta(metadata: Metadata): Metadata {
  const { meta } = metadata;
  return typeof meta === "object" && meta !== null ? (meta as Metadata) : metadata;
}

/** Response headers by metadata member. */
const METADATA_HEADERS: ReadonlyMap<string, string> = new Map([
  ["version", "Eth-Consensus-Version"],
  ["execution_optimistic", "Eth-Execution-Optimistic"],
  ["finalized", "Eth-Consensus-Finalized"],
  ["dependent_root", "Eth-Consensus-Dependent-Root"],
  ["execution_payload_blinded", "Eth-Execution-Payload-Blinded"],
  ["execution_payload_included", "Eth-Execution-Payload-Included"],
  ["execution_payload_value", "Eth-Execution-Payload-Value"],
  ["consensus_block_value", "Eth-Consensus-Block-Value"],
  ["execution_payload_source", "Eth-Execution-Payload-Source"],
]);

/** Headers of the last answer with the same metadata object. */
const headersByMetadata = new WeakMap<Metadata, Pick<UpstreamResponse, "upstream" | "cachedIn" | "headers">>();

/** Sets headers from metadata, because not every upstream sends all of them. */
function metadataHeaders(meta: Metadata, { upstream, cachedIn }: UpstreamResponse): Readonly<Record<string, string>> {
  const known = headersByMetadata.get(meta);
  if (known?.upstream === upstream && known.cachedIn === cachedIn) return known.headers;
  const headers = upstreamHeaders({ upstream, cachedIn });
  for (const member in meta) {
    const name = METADATA_HEADERS.get(member);
    const value = String(meta[member]);
    if (name !== undefined && /^[\w.-]+$/.test(value)) headers[name] = value;
  }
  headersByMetadata.set(meta, { upstream, cachedIn, headers });
  return headers;
}
