import { encodeJson } from "../json/encode.ts";
import { JsonBytes } from "../json/json-bytes.ts";
import type { MethodResponse } from "../server/method-table.ts";
import { toFailure, withFailures } from "./chain-failures.ts";
import type { MetaCodec, ResponseCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { CallContext, DispatchedMethod } from "./definition.ts";
import type { Lanes } from "./lanes.ts";
import { NO_CONTENT } from "./no-content.ts";

type Args = Record<string, unknown>;
type Codec = ResponseCodec<unknown, unknown>;

/** The result of an operation's handler. Its members depend on the operation. */
export interface HandlerResponse {
  status?: number;
  data?: unknown;
  meta?: unknown;
}

/** Calls a method and encodes its response. */
export type Executor = (args: Args, call?: CallContext) => Promise<MethodResponse>;

/** Creates a method's JSON executor. The variants avoid extra promises, since most calls are small. */
export function jsonExecutor(
  method: DispatchedMethod,
  codec: Codec | undefined,
  context: ApiContext,
  lanes: Pick<Lanes, "stream">,
): Executor {
  const { json, handler, resultForStatus = () => true } = method;
  if (json) {
    return withFailures(async (args, call) => {
      const response = await json(context, args, codec, call);
      return Buffer.isBuffer(response.body) ? response : { ...response, body: lanes.stream(response.body) };
    });
  }
  if (!handler) throw new Error(`Method ${method.name} has neither a handler nor a JSON writer`);
  const encode = encoderOf(codec, resultForStatus);
  return async (args, call) => {
    try {
      return encode(await handler(context, args, call));
    } catch (error) {
      throw toFailure(error);
    }
  };
}

/** Creates a method's SSZ executor. */
export function sszExecutor(
  { ssz, handler }: DispatchedMethod,
  codec: Codec | undefined,
  context: ApiContext,
  lanes: Pick<Lanes, "stream">,
): Executor {
  return withFailures(async (args, call) => {
    const response = (await (ssz ?? handler!)(context, args, call)) as HandlerResponse;
    if (response.status === NO_CONTENT.status) return emptyResponse();
    const { data, meta } = response;
    return { body: sszBody(codec!, { data, meta }, lanes), ...encodeMeta(codec!.meta, meta) };
  });
}

function sszBody(codec: Codec, { data, meta }: HandlerResponse, lanes: Pick<Lanes, "stream">): MethodResponse["body"] {
  if (isStream(data)) return lanes.stream(data);
  const bytes = data instanceof Uint8Array ? data : codec.data.serialize!(data, meta);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isStream(data: unknown): data is AsyncIterable<Buffer> {
  return typeof data === "object" && data !== null && Symbol.asyncIterator in data;
}

/** Returns a function that encodes a method's results as JSON. */
function encoderOf(
  codec: Codec | undefined,
  resultForStatus: (status: number) => unknown,
): (result: unknown) => MethodResponse {
  if (codec === undefined) return (value) => ({ body: value instanceof JsonBytes ? value.buffer : encodeJson(value) });
  if (codec.isEmpty) {
    return (response) => ({
      body: encodeJson(resultForStatus((response as HandlerResponse | undefined)?.status ?? 200)),
    });
  }
  // The operation's types guarantee that the handler returns what its codec requires.
  return (response) => encodeResponse(codec, response as HandlerResponse);
}

function emptyResponse(): MethodResponse {
  return { body: encodeJson(null), status: NO_CONTENT.status };
}

function encodeResponse(codec: Codec, { data, meta, status }: HandlerResponse): MethodResponse {
  if (status === NO_CONTENT.status) return emptyResponse();
  const dataJson = codec.data.toJson(data, meta);
  const body = codec.transform?.toResponse(dataJson, codec.meta.toJson(meta));
  // If the REST body has no `data`, the whole body is the result and there is no metadata.
  if (body !== undefined && !hasData(body)) return { body: encodeJson(body) };
  return { body: encodeJson(dataJson), ...encodeMeta(codec.meta, meta) };
}

type EncodedMeta = Pick<MethodResponse, "meta" | "headers">;

/** Encodes metadata both as JSON members and as headers. */
export function encodeMeta<Meta>(codec: MetaCodec<Meta>, meta: Meta): EncodedMeta {
  const encoded: EncodedMeta = {};
  const metaJson = codec.toJson(meta) as Record<string, unknown> | undefined;
  if (metaJson && Object.keys(metaJson).length > 0) encoded.meta = metaJson;
  const all = codec.toHeadersObject(meta);
  for (const name in all) {
    // Keeps only Eth-* headers, since CORS headers are the server's concern. Omits empty values, such as the forks in
    // an empty list.
    if (!name.startsWith("Eth-") || all[name] === "") continue;
    encoded.headers ??= {};
    encoded.headers[name] = all[name]!;
  }
  return encoded;
}

function hasData(body: unknown): boolean {
  return typeof body === "object" && body !== null && "data" in body;
}
