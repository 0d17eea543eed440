import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { entityTag, matchesTag } from "../../server/http/response/entity-tag.ts";
import type { CacheLifetime, RestRequest, RestResponse } from "../../server/rest/route-table.ts";
import type { ChainView } from "../chain-view.ts";
import type { ApiContext } from "../context.ts";

/** A response, and the metadata that tells whether it may still change. */
export interface EncodedResponse {
  response: RestResponse;
  meta?: Record<string, unknown> | undefined;
}

/**
 * Decides how long clients may cache the response to a GET request, and its ETag. The ETag of a finalized state is
 * derived from state, request and node version, so that a match needs neither the response nor the state. The server
 * sends the headers, and hashes the body if there is no ETag.
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

/** Returns how long a response may be cached. Finalized data is immutable once its payloads are verified. */
export function cacheLifetimeOf(request: RestRequest, meta: EncodedResponse["meta"]): CacheLifetime {
  const isSettled = meta?.finalized === true && meta.execution_optimistic !== true;
  return isSettled ? finalCacheLifetime(request) : "never";
}

/** Roots are globally unique. Slots are not: another dev chain may run at the same URL. */
function finalCacheLifetime({ params }: RestRequest): CacheLifetime {
  const id = params.state_id ?? params.block_id;
  if (id?.startsWith("0x")) return "forever";
  return id !== undefined && isSlot(id) ? "while-unchanged" : "never";
}

type IdentityOfState = string | undefined;

/** Identifies a state by its root, or by slot and latest block. Undefined if it may still change. */
function identityOfState({ blocks, forkChoice }: ChainView, id = ""): IdentityOfState | Promise<IdentityOfState> {
  if (id.startsWith("0x")) return id;
  if (!isSlot(id) || Number(id) > computeStartSlotAtEpoch(forkChoice.finalized.epoch)) return undefined;
  return blocks.rootAtOrBefore(Number(id)).then((root) => root ?? undefined);
}

const isSlot = (id: string) => /^\d+$/.test(id);
