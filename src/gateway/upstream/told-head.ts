import type { Question, UpstreamResponse } from "../exchange.ts";
import { isHeadBound } from "./head-bound.ts";

/** What tells the slot of the head itself. */
const TELLING_PATH = /^\/eth\/v\d+\/(?:beacon\/(?:headers(?:\/head)?|(?:blinded_)?blocks\/head)|node\/syncing)(?:\?|$)/;
/** The first of them: of a block that is written in another order it is that of a vote, which is not later. */
const SLOT = /"(?:head_)?slot"\s*:\s*"?(\d+)/;
/** It stands near the beginning: answers are not looked through for it. */
const BEGINNING_BYTES = 1024;

/** The slot of the head that whoever gets the answer is told of; undefined where the beginning of the answer does not have it. */
export function toldHeadSlot(question: Question, { status, body }: UpstreamResponse): number | undefined {
  if (status !== 200 || !Buffer.isBuffer(body) || !TELLING_PATH.test(question.request.url)) return undefined;
  const slot = isHeadBound(question) ? SLOT.exec(body.toString("latin1", 0, BEGINNING_BYTES))?.[1] : undefined;
  return slot === undefined ? undefined : Number(slot);
}
