import type { UpstreamCall, UpstreamResponse } from "../upstream-call.ts";

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
/**
 * The first slot of the body. In a block with another member order it is that of an attestation, which is not later.
 */
const SLOT = /"(?:head_)?slot"\s*:\s*"?(\d+)/;
/** The slot is near the start, so only that is scanned. */
const SCANNED_BYTES = 1024;

/** Returns the head slot that a response reveals to the client, or undefined if its first bytes do not contain one. */
export function reportedHeadSlot(call: UpstreamCall, { status, body }: UpstreamResponse): number | undefined {
  if (status !== 200 || !Buffer.isBuffer(body) || !HEAD_PATHS.test(call.request.url)) return undefined;
  const slot = isHeadBound(call) ? SLOT.exec(body.toString("latin1", 0, SCANNED_BYTES))?.[1] : undefined;
  return slot === undefined ? undefined : Number(slot);
}
