import { asksForSlot } from "../../api/cache-policy.ts";
import { MEDIA_TYPES, mediaTypeOf } from "../../server/http/negotiation.ts";
import { findData } from "../calls/data-scanner.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import type { Question, UpstreamResponse } from "../exchange.ts";
import { finalityOf } from "./metadata.ts";

/**
 * How long an answer stays true: what is `final` for ever, unless the chain goes back behind it; what is `fixed` while an upstream runs; the others
 * while nothing happens to the head or to the status.
 */
export type Lasting = "final" | "fixed" | "head" | "status";

/** An answer that has come to its end. */
export interface WholeResponse extends UpstreamResponse {
  readonly body: Buffer;
}

/** What is known of the chain that decides how long answers last. */
export interface Finalization {
  /** The last slot of which one upstream, or any, has said that it is final; undefined when it has said nothing. */
  finalSlot(upstream?: string): number | undefined;
  /** Whether the upstream follows blocks whose payloads it has not verified. */
  isOptimistic(upstream: string): boolean;
}

/** What an id has to be to stand for the same thing for ever: a root, a slot once that is final, or the beginning. */
const ROOT = /^0x[0-9a-f]{64}$/i;
const SLOT = /^\d+$/;

/** Whether the answer can turn out to be final. */
export function mayBeFinal({ method, params }: Question, finalization: Finalization): boolean {
  const id = placeOf(params);
  if (id === undefined || method.mayGrow) return false;
  if (!SLOT.test(id)) return id === "genesis" || ROOT.test(id);
  return Number(id) <= (finalization.finalSlot() ?? Number.POSITIVE_INFINITY);
}

/** How long answers last that are not final; undefined for those that are to be had anew every time. */
export function lastingUnlessFinal({ method, params }: Question): Exclude<Lasting, "final"> | undefined {
  if (method.dependsOn === "nothing") return "fixed";
  // Slots between the head and the clock come and go by the time alone.
  if (method.mayGrow || asksForSlot(method, params)) return undefined;
  return method.dependsOn ?? (placeOf(params) === undefined ? undefined : "head");
}

/** How long this answer lasts; undefined for one that is not to be kept. */
export function lastingOf(
  question: Question,
  response: WholeResponse,
  finalization: Finalization,
): Lasting | undefined {
  if (response.status !== 200) return undefined;
  const lasting = isFinal(question, response, finalization) ? "final" : lastingUnlessFinal(question);
  const isForLong = lasting === "final" || lasting === "fixed";
  return isForLong && !hasData(response) ? undefined : lasting;
}

function isFinal(question: Question, { upstream, headers, body }: WholeResponse, finalization: Finalization): boolean {
  if (!mayBeFinal(question, finalization) || isEmpty(body)) return false;
  const { finalized, optimistic } = finalityOf(headers, body);
  if (optimistic) return false;
  if (finalized !== undefined) return finalized;
  // SSZ has no place for it, and some upstreams leave it out of JSON.
  const slot = placeOf(question.params);
  if (slot === undefined || !SLOT.test(slot) || finalization.isOptimistic(upstream)) return false;
  return Number(slot) <= (finalization.finalSlot(upstream) ?? -1);
}

/** An upstream that has deleted the data of old blocks may answer with an empty list where another has them. */
function isEmpty(body: Buffer): boolean {
  return body.length === 0 || (body.length < SHORT_BYTES && /"data"\s*:\s*\[\s*\]/.test(body.toString("latin1")));
}

/** Something between here and an upstream may answer for it, with JSON of its own. */
function hasData({ upstream, headers, body }: WholeResponse): boolean {
  if (mediaTypeOf(headers["content-type"]) !== MEDIA_TYPES.json) return true;
  try {
    return findData(body, upstream).data.length > 0;
  } catch {
    return false;
  }
}

/** What has an empty list in it has nothing else of any length. */
const SHORT_BYTES = 512;

const placeOf = (params: Question["params"]) => params.state_id ?? params.block_id;

/** By the conditions of the upstreams. */
export function finalizationBy(conditions: Pick<Conditions, "all">, { slotsPerEpoch }: ChainFacts): Finalization {
  return {
    finalSlot(upstream) {
      let last: number | undefined;
      for (const { upstream: name, finalized } of conditions.all) {
        if (finalized === undefined || (upstream !== undefined && name !== upstream)) continue;
        last = Math.max(last ?? 0, finalized.epoch * slotsPerEpoch);
      }
      return last;
    },
    isOptimistic: (upstream) => conditions.all.find((each) => each.upstream === upstream)?.isOptimistic !== false,
  };
}
