import { encodeJson } from "../json/encode.ts";
import type { Answer } from "../server/method-table.ts";

/** A handler with its encoder: the one executor behind every door. */
export type Operation<Args> = (args: Args) => Promise<Answer>;

export interface MetaCodec<Meta> {
  toJson(meta: Meta): unknown;
  toHeadersObject(meta: Meta): Record<string, string>;
}

/** The part of a @lodestar/api route definition that says how a response becomes JSON. */
export interface ResponseDefinition<Data, Meta> {
  resp: {
    data: {
      toJson(data: Data, meta: Meta): unknown;
      deserialize(bytes: Uint8Array, meta: Meta): Data;
    };
    meta: MetaCodec<Meta>;
    transform?: { toResponse(data: unknown, meta: unknown): unknown };
    isEmpty?: true;
  };
}

/** What the handlers of @lodestar/api answer. Data may be SSZ bytes; which members there are depends on the route. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers of routes without a response body return nothing at all.
export type HandlerResponse<Data, Meta> = { status?: number; data?: Data | Uint8Array; meta?: Meta } | void;

/** An operation of the standard: its route definition says how the handler's answer is encoded. */
export function standard<Args, Data, Meta>(
  definition: ResponseDefinition<Data, Meta>,
  handler: (args: Args) => Promise<HandlerResponse<Data, Meta>>,
): Operation<Args> {
  return async (args) => encodeResponse(definition, await handler(args));
}

/**
 * The same for a handler that answers with the same object as long as nothing has changed, and never changes it: the bytes
 * are kept as long as the object.
 */
export function standardKept<Args, Data extends object, Meta>(
  { resp }: ResponseDefinition<Data, Meta>,
  handler: (args: Args) => Promise<HandlerResponse<Data, Meta>>,
): Operation<Args> {
  const known = new WeakMap<object, Buffer>();
  return async (args) => {
    const { data, meta } = (await handler(args)) as { data: Data; meta: Meta };
    let body = known.get(data);
    if (body === undefined) {
      body = encodeJson(resp.data.toJson(data, meta));
      known.set(data, body);
    }
    return { body, ...besideData(resp.meta, meta) };
  };
}

/** An operation that REST answers by its status alone: `resultOf` makes a result of the status. */
export function byStatus<Args>(
  handler: (args: Args) => Promise<HandlerResponse<never, never>>,
  resultOf: (status: number) => unknown,
): Operation<Args> {
  return async (args) => {
    const response = await handler(args);
    return { body: encodeJson(resultOf(response?.status ?? 200)) };
  };
}

/** An operation outside the standard: its handler answers with a plain JSON value. */
export function extension<Args>(handler: (args: Args) => unknown): Operation<Args> {
  return async (args) => ({ body: encodeJson(await handler(args)) });
}

type OperationsOf<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (args: infer Args, ...rest: never[]) => unknown
    ? Operation<Args>
    : never;
};

/** Every handler of a family as a standard operation. */
export function standardFamily<Methods extends object>(
  definitions: { [Name in keyof Methods]: unknown },
  methods: Methods,
): OperationsOf<Methods> {
  const operations = Object.entries(methods).map(([name, handler]) => [
    name,
    standard(definitions[name as keyof Methods] as ResponseDefinition<unknown, unknown>, handler),
  ]);
  return Object.fromEntries(operations);
}

export function encodeResponse<Data, Meta>(
  { resp }: ResponseDefinition<Data, Meta>,
  response: HandlerResponse<Data, Meta>,
): Answer {
  // REST answers an accepted submission with an empty body; a JSON-RPC result must be a value.
  if (resp.isEmpty) return { body: encodeJson(true) };

  // The route's types oblige its handler to give all that its codecs want.
  const { data: given, meta } = response as { data: Data | Uint8Array; meta: Meta };
  const data = given instanceof Uint8Array ? resp.data.deserialize(given, meta) : given;
  const dataJson = resp.data.toJson(data, meta);
  const body = resp.transform?.toResponse(dataJson, resp.meta.toJson(meta));
  // Where the REST body has no `data` member the whole body is the result, and nothing stands beside it.
  if (body !== undefined && !hasData(body)) return { body: encodeJson(body) };
  return { body: encodeJson(dataJson), ...besideData(resp.meta, meta) };
}

type BesideData = Pick<Answer, "meta" | "headers">;

/** Of metadata that can no longer change, by the codec and the object. */
const keptBesideData = new WeakMap<object, WeakMap<object, BesideData>>();

/** The metadata of an answer, in both of the forms in which it reaches a caller. */
export function besideData<Meta>(codec: MetaCodec<Meta>, meta: Meta): BesideData {
  if (typeof meta !== "object" || meta === null || !Object.isFrozen(meta)) return encodeBesideData(codec, meta);
  let ofCodec = keptBesideData.get(codec);
  if (ofCodec === undefined) {
    ofCodec = new WeakMap();
    keptBesideData.set(codec, ofCodec);
  }
  let kept = ofCodec.get(meta);
  if (kept === undefined) {
    kept = encodeBesideData(codec, meta);
    ofCodec.set(meta, kept);
  }
  return kept;
}

function encodeBesideData<Meta>(codec: MetaCodec<Meta>, meta: Meta): BesideData {
  const beside: BesideData = {};
  const metaJson = codec.toJson(meta) as Record<string, unknown> | undefined;
  if (metaJson && Object.keys(metaJson).length > 0) beside.meta = metaJson;
  const all = codec.toHeadersObject(meta);
  for (const name in all) {
    // Which headers a browser may read is a matter of the door's CORS settings, not of the answer.
    if (!name.startsWith("Eth-")) continue;
    beside.headers ??= {};
    beside.headers[name] = all[name]!;
  }
  return beside;
}

function hasData(body: unknown): boolean {
  return typeof body === "object" && body !== null && "data" in body;
}
