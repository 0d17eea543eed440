import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { encodeJson } from "../../json/encode.ts";
import type { MethodResponse } from "../../server/method-table.ts";
import type { CacheLifetime, RestRequest, RestResponse } from "../../server/rest/route-table.ts";
import type { ChainView } from "../chain-view.ts";
import type { ResponseCodec } from "../codecs.ts";
import type { ApiContext } from "../context.ts";
import { encodeMeta, type HandlerResponse } from "../encoding.ts";

type Codec = ResponseCodec<unknown, unknown>;

const START = Buffer.from('{"data":');
const END = Buffer.from("}");

/** Creates a response of the Beacon API: the result as `data`, with metadata members. */
export function dataResponse({ body, meta, headers }: MethodResponse, request: RestRequest): RestResponse {
  return {
    status: 200,
    headers,
    content: { format: "json", parts: [START, body, endOf(meta)] },
    cacheLifetime: cacheLifetimeOf(request, meta),
  };
}

function endOf(meta: MethodResponse["meta"]): Buffer {
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return hasMeta ? Buffer.from(`,${JSON.stringify(meta).slice(1)}`) : END;
}

/** Creates a response whose codec combines data and metadata in its own way. */
export function transformedResponse(codec: Codec, { data, meta }: HandlerResponse, request: RestRequest): RestResponse {
  const body = codec.transform?.toResponse(codec.data.toJson(data, meta), codec.meta.toJson(meta));
  const beside = encodeMeta(codec.meta, meta);
  return {
    status: 200,
    headers: beside.headers,
    content: { format: "json", parts: [encodeJson(body)] },
    cacheLifetime: cacheLifetimeOf(request, beside.meta),
  };
}

/** Creates an SSZ response, with metadata in headers. */
export function sszResponse({ body, meta, headers }: MethodResponse, request: RestRequest): RestResponse {
  return {
    status: 200,
    headers,
    content: { format: "ssz", parts: [body] },
    cacheLifetime: cacheLifetimeOf(request, meta),
  };
}

/** Returns how long a response may be cached. Finalized data is immutable once its payloads are verified. */
function cacheLifetimeOf(request: RestRequest, meta: Record<string, unknown> | undefined): CacheLifetime {
  const isSettled = meta?.finalized === true && meta.execution_optimistic !== true;
  return isSettled ? finalCacheLifetime(request) : "never";
}

/** Roots are globally unique. Slots are not: another dev chain may run at the same URL. */
function finalCacheLifetime({ params }: RestRequest): CacheLifetime {
  const id = params.state_id ?? params.block_id;
  if (id?.startsWith("0x")) return "forever";
  return id !== undefined && isSlot(id) ? "while-unchanged" : "never";
}

/**
 * Handles a request about a finalized state. Its ETag is derived from state, request and node version, so that a match
 * needs neither the response nor the state.
 */
export async function stateResponse(
  { chain, version }: ApiContext,
  request: RestRequest,
  make: () => Promise<RestResponse>,
): Promise<RestResponse> {
  const identity = identityOfState(chain, request.params.state_id);
  const state = identity instanceof Promise ? await identity : identity;
  if (state === undefined) return make();
  const { tag, isHeld } = request.entity(`${version} ${state}`);
  if (isHeld) return { status: 304, cacheLifetime: finalCacheLifetime(request), tag };
  return { ...(await make()), tag };
}

type IdentityOfState = string | undefined;

/** Identifies a state by its root, or by slot and latest block. Undefined if it may still change. */
function identityOfState({ blocks, forkChoice }: ChainView, id = ""): IdentityOfState | Promise<IdentityOfState> {
  if (id.startsWith("0x")) return id;
  if (!isSlot(id) || Number(id) > computeStartSlotAtEpoch(forkChoice.finalized.epoch)) return undefined;
  return blocks.rootAtOrBefore(Number(id)).then((root) => root ?? undefined);
}

const isSlot = (id: string) => /^\d+$/.test(id);
