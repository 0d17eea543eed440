import { SharedStream, writeElement } from "../../../json/shared-stream.ts";
import type { Params } from "../../method-table.ts";
import type { BodyPart, RestRequest } from "../../rest/route-table.ts";
import type { ToMain } from "../messages/protocol.ts";
import type { Response } from "./response-cache.ts";

/** A call whose response is one element of a list that another method returns. */
export interface ListElement {
  /** The list's cache key. */
  key: string;
  index: number;
  /** Returns the message that starts prewarming the list. */
  prewarm(id: number): ToMain;
}

/** Index of a list element. Other identifiers are left to the main thread. */
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** Returns the list element requested by a JSON-RPC call, if the list can be prewarmed. */
export function elementOfCall(listedBy: number, params: Params): ListElement | undefined {
  if (!Array.isArray(params) || params.length !== 2) return undefined;
  const [list, index] = params;
  if (typeof index !== "string" || !INDEX.test(index)) return undefined;
  const text = JSON.stringify([list]);
  const prewarm = (id: number): ToMain => ["prewarm call", id, true, listedBy, text];
  return { key: `list ${listedBy} ${text}`, index: Number(index), prewarm };
}

/** Returns the list element requested by a REST request, if the list can be prewarmed. */
export function elementOfRequest(listedBy: number, { url, params, format }: RestRequest): ListElement | undefined {
  const slash = url.lastIndexOf("/");
  const index = url.slice(slash + 1);
  if (!INDEX.test(index)) return undefined;
  const list = url.slice(0, slash);
  const paramsOfList = Object.fromEntries(Object.entries(params).slice(0, -1));
  const prewarm = (id: number): ToMain => [
    "prewarm request",
    id,
    true,
    listedBy,
    list,
    paramsOfList,
    undefined,
    format,
    undefined,
  ];
  return { key: `list ${listedBy} ${format} ${list}`, index: Number(index), prewarm };
}

/** Extracts the response for one element from the list's response. */
export function extractElement(list: Response, index: number): Response | undefined {
  const extract = (part: BodyPart) => (part instanceof SharedStream ? writeElement(part.descriptor, index) : part);
  if ("body" in list) {
    const body = extract(list.body);
    return body && { ...list, body };
  }
  const parts: BodyPart[] = [];
  for (const part of list.content?.parts ?? []) {
    const element = extract(part);
    if (element === undefined) return undefined;
    parts.push(element);
  }
  return list.content && { ...list, content: { ...list.content, parts } };
}
