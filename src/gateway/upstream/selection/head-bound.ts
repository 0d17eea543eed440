import { MEDIA_TYPES, mediaTypeOf } from "../../../server/http/response/negotiation.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream-call.ts";
import { slotInJson } from "./slot-in-json.ts";
import { slotInSszBlock } from "./sticky-routes.ts";

const HEAD_RELATIVE_IDS: ReadonlySet<string> = new Set(["head", "justified", "finalized"]);

/** True if the answer depends on the head, so that it must not come from an upstream below the head floor. */
export function isHeadBound({ method, params }: Pick<UpstreamCall, "method" | "params">): boolean {
  const id = params.state_id ?? params.block_id;
  if (id !== undefined) return HEAD_RELATIVE_IDS.has(id);
  if (method.cost === "duty") return true;
  if (method.dependsOn !== "head" && method.dependsOn !== "status") return false;
  return params.slot === undefined && params.parent_root === undefined;
}

/** Paths whose response contains the head slot. */
const HEAD_PATHS = /^\/eth\/v\d+\/(?:beacon\/(?:headers(?:\/head)?|(?:blinded_)?blocks\/head)|node\/syncing)(?:\?|$)/;
const HEAD_SLOT = /"head_slot"\s*:\s*"?(\d+)/;

/** Returns the head slot that a response reveals to the client, or undefined if it does not contain one. */
export function reportedHeadSlot(call: UpstreamCall, { status, headers, body }: UpstreamResponse): number | undefined {
  const { url } = call.request;
  if (status !== 200 || !Buffer.isBuffer(body) || !HEAD_PATHS.test(url) || !isHeadBound(call)) return undefined;
  if (mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.ssz) return slotInSszBlock(body);
  if (!url.includes("/syncing")) return slotInJson(body);
  const slot = HEAD_SLOT.exec(body.toString("latin1"))?.[1];
  return slot === undefined ? undefined : Number(slot);
}
