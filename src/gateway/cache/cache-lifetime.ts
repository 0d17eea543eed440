import { isBySlot } from "../../api/cache-policy.ts";
import { MEDIA_TYPES, mediaTypeOf } from "../../server/http/response/negotiation.ts";
import { findData } from "../calls/responses/data-scanner.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream/upstream-call.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import { readFinalityMetadata } from "./finality-metadata.ts";

/**
 * How long a response is valid. `final`: until a revert behind finality. `fixed`: while the upstream runs. `head` and
 * `status`: until the revision counter of the same name changes.
 */
export type CacheLifetime = "final" | "fixed" | "head" | "status";

/** A response with its whole body. */
export interface BufferedResponse extends UpstreamResponse {
  readonly body: Buffer;
  /** Checks that the response passed before it was cached, see `validationKind`. Undefined if validation was off. */
  readonly validatedAs?: string | undefined;
}

/** Finality as reported by the upstreams. */
export interface FinalityView {
  /** Returns the last finalized slot of an upstream, or the latest of all upstreams. Undefined if unknown. */
  finalSlot(upstream?: string): number | undefined;
  /** True if the upstream follows blocks whose payloads it has not verified. */
  isOptimistic(upstream: string): boolean;
}

/** Ids that always identify the same block or state: a root, a finalized slot, or genesis. */
const ROOT = /^0x[0-9a-f]{64}$/i;
const SLOT = /^\d+$/;

/** True if the response may be final. `lifetimeOf` decides once it has arrived. */
export function mayBeFinal({ method, params }: UpstreamCall, finality: FinalityView): boolean {
  const id = idOf(params);
  if (id === undefined || method.growsAfterFinality) return false;
  if (!SLOT.test(id)) return id === "genesis" || ROOT.test(id);
  return Number(id) <= (finality.finalSlot() ?? Number.POSITIVE_INFINITY);
}

/** Returns the lifetime of a response that is not final. Undefined if it must not be cached. */
export function nonFinalLifetime({ method, params }: UpstreamCall): Exclude<CacheLifetime, "final"> | undefined {
  if (method.dependsOn === "nothing") return "fixed";
  // Results for slots after the head, up to the current one, change without a new head.
  if (method.growsAfterFinality || isBySlot(method, params)) return undefined;
  // A gateway has no EVM.
  if (method.dependsOn === "evm") return undefined;
  return method.dependsOn ?? (idOf(params) === undefined ? undefined : "head");
}

/** Returns the lifetime of a response. Undefined if it must not be cached. */
export function lifetimeOf(
  call: UpstreamCall,
  response: BufferedResponse,
  finality: FinalityView,
): CacheLifetime | undefined {
  if (response.status !== 200) return undefined;
  const lifetime = isFinal(call, response, finality) ? "final" : nonFinalLifetime(call);
  const isForLong = lifetime === "final" || lifetime === "fixed";
  return isForLong && !hasData(response) ? undefined : lifetime;
}

function isFinal(call: UpstreamCall, { upstream, headers, body }: BufferedResponse, finality: FinalityView): boolean {
  if (!mayBeFinal(call, finality) || isEmpty(body)) return false;
  const { finalized, optimistic } = readFinalityMetadata(headers, body);
  if (optimistic) return false;
  if (finalized !== undefined) return finalized;
  // SSZ has no metadata, and some upstreams omit it from JSON.
  const slot = idOf(call.params);
  if (slot === undefined || !SLOT.test(slot) || finality.isOptimistic(upstream)) return false;
  return Number(slot) <= (finality.finalSlot(upstream) ?? -1);
}

/** True for an empty list, which an upstream may return after pruning old block data. */
function isEmpty(body: Buffer): boolean {
  return body.length === 0 || (body.length < SHORT_BYTES && /"data"\s*:\s*\[\s*\]/.test(body.toString("latin1")));
}

/** False for the JSON of a proxy, which has no member `data`. */
function hasData({ upstream, headers, body }: BufferedResponse): boolean {
  if (mediaTypeOf(headers["content-type"]) !== MEDIA_TYPES.json) return true;
  try {
    return findData(body, upstream).data.length > 0;
  } catch {
    return false;
  }
}

/** Maximum size of a body with an empty list. */
const SHORT_BYTES = 512;

const idOf = (params: UpstreamCall["params"]) => params.state_id ?? params.block_id;

/** Derives finality from the health of the upstreams. */
export function finalityFrom(health: Pick<HealthTracker, "all">, { slotsPerEpoch }: ChainSpec): FinalityView {
  return {
    finalSlot(upstream) {
      let last: number | undefined;
      for (const { upstream: name, finalized } of health.all) {
        if (finalized === undefined || (upstream !== undefined && name !== upstream)) continue;
        last = Math.max(last ?? 0, finalized.epoch * slotsPerEpoch);
      }
      return last;
    },
    isOptimistic: (upstream) => health.all.find((each) => each.upstream === upstream)?.isOptimistic !== false,
  };
}
