import { encodeJson } from "../../json/encode.ts";
import type { MethodResponse } from "../../server/method-table.ts";
import type { RestResponse } from "../../server/rest/route-table.ts";
import type { ResponseCodec } from "../codecs.ts";
import { encodeMeta, type HandlerResponse } from "../encoding.ts";
import { NO_CONTENT } from "../no-content.ts";
import type { EncodedResponse } from "./caching.ts";

type Codec = ResponseCodec<unknown, unknown>;

const START = Buffer.from('{"data":');
const END = Buffer.from("}");

/** Creates a response as in the Beacon API, with the result in `data` and the metadata in members next to it. */
export function dataResponse({ body, meta, headers, status }: MethodResponse): RestResponse {
  if (status === NO_CONTENT.status) return { status };
  return { status: 200, headers, content: { format: "json", parts: [START, body, endOf(meta)] } };
}

function endOf(meta: MethodResponse["meta"]): Buffer {
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return hasMeta ? Buffer.from(`,${JSON.stringify(meta).slice(1)}`) : END;
}

/** Creates a response whose codec combines data and metadata in its own format. */
export function transformedResponse(codec: Codec, { data, meta }: HandlerResponse): EncodedResponse {
  const body = codec.transform?.toResponse(codec.data.toJson(data, meta), codec.meta.toJson(meta));
  const beside = encodeMeta(codec.meta, meta);
  const content = { format: "json" as const, parts: [encodeJson(body)] };
  return { response: { status: 200, headers: beside.headers, content }, meta: beside.meta };
}

/** Creates an SSZ response with the metadata in headers. */
export function sszResponse({ body, headers, status }: MethodResponse): RestResponse {
  if (status === NO_CONTENT.status) return { status };
  return { status: 200, headers, content: { format: "ssz", parts: [body] } };
}
