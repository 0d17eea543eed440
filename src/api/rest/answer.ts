import { encodeJson } from "../../json/encode.ts";
import type { Answer } from "../../server/method-table.ts";
import type { Lasting, RestAnswer, RestRequest } from "../../server/rest/route-table.ts";
import type { ResponseCodec } from "../codecs.ts";
import { besideData, type Response } from "../encoding.ts";

type Codec = ResponseCodec<unknown, unknown>;

const START = Buffer.from('{"data":');
const END = Buffer.from("}");

/** The standard's body: an encoded result under `data`, and beside it its metadata. */
export function dataAnswer({ body, meta, headers }: Answer, request: RestRequest): RestAnswer {
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  const end = hasMeta ? Buffer.from(`,${JSON.stringify(meta).slice(1)}`) : END;
  return {
    status: 200,
    headers,
    content: { format: "json", parts: [START, body, end] },
    lasting: lastingOf(request, meta),
  };
}

/** The body of an operation that puts data and metadata together in a way of its own. */
export function transformedAnswer(codec: Codec, { data, meta }: Response, request: RestRequest): RestAnswer {
  const body = codec.transform?.toResponse(codec.data.toJson(data, meta), codec.meta.toJson(meta));
  const beside = besideData(codec.meta, meta);
  return {
    status: 200,
    headers: beside.headers,
    content: { format: "json", parts: [encodeJson(body)] },
    lasting: lastingOf(request, beside.meta),
  };
}

/** The bytes of an SSZ value, with its metadata in headers. */
export function sszAnswer(codec: Codec, { data, meta }: Response, request: RestRequest): RestAnswer {
  const bytes = data instanceof Uint8Array ? data : codec.data.serialize!(data, meta);
  const beside = besideData(codec.meta, meta);
  return {
    status: 200,
    headers: beside.headers,
    content: { format: "ssz", parts: [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)] },
    lasting: lastingOf(request, beside.meta),
  };
}

/**
 * What is final never changes, once its payload is known to be valid. A root names one thing in all the world; a slot only within one chain, and a dev chain can be
 * replaced by another at the same address.
 */
function lastingOf({ params }: RestRequest, meta: Record<string, unknown> | undefined): Lasting {
  const id = params.state_id ?? params.block_id;
  if (id === undefined || meta?.finalized !== true || meta.execution_optimistic === true) return "never";
  if (id.startsWith("0x")) return "forever";
  return /^\d+$/.test(id) ? "while-unchanged" : "never";
}
