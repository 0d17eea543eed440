import { encodeJson } from "../json/encode.ts";
import type { Answer } from "../server/method-table.ts";
import { failingAsCall, toFailure } from "./chain-failures.ts";
import type { MetaCodec, ResponseCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { CallContext, Method } from "./definition.ts";
import type { Lanes } from "./lanes.ts";

type Args = Record<string, unknown>;
type Codec = ResponseCodec<unknown, unknown>;

/** What the handler of an operation gives; which members there are depends on the operation. */
export interface Response {
  status?: number;
  data?: unknown;
  meta?: unknown;
}

/** Calls a method and encodes its answer. */
export type Executor = (args: Args, call?: CallContext) => Promise<Answer>;

/** The small calls are most calls, so that each form has as few promises on its way as it can. */
export function jsonExecutor(
  method: Method,
  codec: Codec | undefined,
  context: ApiContext,
  lanes: Pick<Lanes, "stream">,
): Executor {
  const { json, handler, resultOfStatus = () => true } = method;
  if (json) {
    return failingAsCall(async (args, call) => {
      const answer = await json(context, args, codec, call);
      return Buffer.isBuffer(answer.body) ? answer : { ...answer, body: lanes.stream(answer.body) };
    });
  }
  if (!handler) throw new Error(`The method ${method.name} has neither a handler nor a writer.`);
  const encode = encoderOf(codec, resultOfStatus);
  return async (args, call) => {
    try {
      return encode(await handler(context, args, call));
    } catch (error) {
      throw toFailure(error);
    }
  };
}

/** For methods whose operation has an SSZ form. */
export function sszExecutor(
  { ssz, handler }: Method,
  codec: Codec | undefined,
  context: ApiContext,
  lanes: Pick<Lanes, "stream">,
): Executor {
  return failingAsCall(async (args, call) => {
    const { data, meta } = (await (ssz ?? handler!)(context, args, call)) as Response;
    return { body: sszBody(codec!, { data, meta }, lanes), ...besideData(codec!.meta, meta) };
  });
}

function sszBody(codec: Codec, { data, meta }: Response, lanes: Pick<Lanes, "stream">): Answer["body"] {
  if (isStream(data)) return lanes.stream(data);
  const bytes = data instanceof Uint8Array ? data : codec.data.serialize!(data, meta);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isStream(data: unknown): data is AsyncIterable<Buffer> {
  return typeof data === "object" && data !== null && Symbol.asyncIterator in data;
}

/** What makes an answer of what a handler gives. */
function encoderOf(codec: Codec | undefined, resultOfStatus: (status: number) => unknown): (given: unknown) => Answer {
  if (codec === undefined) return (value) => ({ body: encodeJson(value) });
  if (codec.isEmpty) {
    return (response) => ({ body: encodeJson(resultOfStatus((response as Response | undefined)?.status ?? 200)) });
  }
  // The types of the operation oblige its handler to give all that its codec wants.
  return (response) => encodeResponse(codec, response as Response);
}

function encodeResponse(codec: Codec, { data, meta }: Response): Answer {
  const dataJson = codec.data.toJson(data, meta);
  const body = codec.transform?.toResponse(dataJson, codec.meta.toJson(meta));
  // Where the REST body has no `data` member the whole body is the result, and nothing stands beside it.
  if (body !== undefined && !hasData(body)) return { body: encodeJson(body) };
  return { body: encodeJson(dataJson), ...besideData(codec.meta, meta) };
}

type BesideData = Pick<Answer, "meta" | "headers">;

/** The metadata of an answer, in both of the forms in which it reaches a caller. */
export function besideData<Meta>(codec: MetaCodec<Meta>, meta: Meta): BesideData {
  const beside: BesideData = {};
  const metaJson = codec.toJson(meta) as Record<string, unknown> | undefined;
  if (metaJson && Object.keys(metaJson).length > 0) beside.meta = metaJson;
  const all = codec.toHeadersObject(meta);
  for (const name in all) {
    // Which headers a browser may read is a matter of the server's CORS settings, not of the answer.
    // The forks of an empty list are none, and a header without a value says nothing.
    if (!name.startsWith("Eth-") || all[name] === "") continue;
    beside.headers ??= {};
    beside.headers[name] = all[name]!;
  }
  return beside;
}

function hasData(body: unknown): boolean {
  return typeof body === "object" && body !== null && "data" in body;
}
