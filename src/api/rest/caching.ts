import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { entityTag, matchesTag } from "../../server/http/response/entity-tag.ts";
import type { CacheLifetime, RestRequest, RestResponse } from "../../server/rest/route-table.ts";
import type { ChainView } from "../chain-view.ts";
import type { ApiContext } from "../context.ts";

/** A response and the metadata that shows whether it may still change. */
export interface EncodedResponse {
  response: RestResponse;
  meta?: Record<string, unknown> | undefined;
}

/**
 * Determines how long clients may cache the response to a GET request, and its ETag. The ETag for a finalized state is
 * derived from the state, the request and the node's version, so neither the response nor the state is needed to find a
 * match. The server sends the headers, and hashes the body if there is no ETag.
 */
export async function withCaching(
  { chain, version }: Pick<ApiContext, "chain" | "version">,
  request: RestRequest,
  encode: () => Promise<EncodedResponse>,
): Promise<RestResponse> {
  const identity = identityOfState(chain, request.params.state_id);
  const state = identity instanceof Promise ? await identity : identity;
  const tag = state && entityTag(JSON.stringify([request.url, request.format, `${version} ${state}`]));
  if (tag !== undefined && matchesTag(request.headers["if-none-match"], tag)) {
    return { status: 304, cacheLifetime: finalCacheLifetime(request), tag };
  }
  const { response, meta } = await encode();
  return { ...response, cacheLifetime: cacheLifetimeOf(request, meta), tag };
}

/** Returns how long a response may be cached. Finalized data is immutable once its payloads have been verified. */
export function cacheLifetimeOf(request: RestRequest, meta: EncodedResponse["meta"]): CacheLifetime {
  const isSettled = meta?.finalized === true && meta.execution_optimistic !== true;
  return isSettled ? finalCacheLifetime(request) : "never";
}

/** Roots are globally unique, but slots are not: a different dev chain may run at the same URL. */
function finalCacheLifetime({ params }: RestRequest): CacheLifetime {
  const id = params.state_id ?? params.block_id;
  if (id?.startsWith("0x")) return "forever";
  return id !== undefined && isSlot(id) ? "while-unchanged" : "never";
}

type IdentityOfState = string | undefined;

/**
 * Returns a root that identifies a state together with the requested id: the state root, or the root of the latest
 * block at the slot. Undefined if the state may still change.
 */
function identityOfState({ blocks, forkChoice }: ChainView, id = ""): IdentityOfState | Promise<IdentityOfState> {
  if (id.startsWith("0x")) return id;
  if (!isSlot(id) || Number(id) > computeStartSlotAtEpoch(forkChoice.finalized.epoch)) return undefined;
  return blocks.rootAtOrBefore(Number(id)).then((root) => root ?? undefined);
}

const isSlot = (id: string) => /^\d+$/.test(id);
