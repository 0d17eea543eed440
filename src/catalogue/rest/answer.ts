import type { Answer } from "../../server/method-table.ts";
import type { Lasting, RestAnswer, RestRequest } from "../../server/rest/route-table.ts";

const START = Buffer.from('{"data":');
const END = Buffer.from("}");

type Meta = Record<string, unknown>;

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

/**
 * What is final never changes. A root names one thing in all the world; a slot only within one chain, and a dev chain can be
 * replaced by another at the same address.
 */
export function lastingOf({ params }: RestRequest, meta: Meta | undefined): Lasting {
  const id = params.state_id ?? params.block_id;
  if (id === undefined || meta?.finalized !== true) return "never";
  if (id.startsWith("0x")) return "forever";
  return /^\d+$/.test(id) ? "while-unchanged" : "never";
}
