import { IrregularNumber } from "../../json/parse.ts";
import type { Params } from "../method-table.ts";

/** The JSON text of an id, as it is echoed. */
export type IdToken = string;

export const NULL_ID: IdToken = "null";

/** A well-formed request object. Without an id it is a notification, to which nothing is ever answered. */
export interface Call {
  id: IdToken | undefined;
  method: string;
  params: Params;
  /** The extra request member `"meta": true` asks for the metadata of the result beside it. */
  wantsMeta: boolean;
}

/** Something that stands where a request object should; the reason is a whole sentence. */
export interface InvalidRequest {
  id: IdToken;
  reason: string;
}

export function isInvalid(request: Call | InvalidRequest): request is InvalidRequest {
  return "reason" in request;
}

/** Checks one parsed request object (JSON-RPC 2.0, section 4). Unknown members are ignored. */
export function readRequest(value: unknown): Call | InvalidRequest {
  if (!isObject(value)) {
    return { id: NULL_ID, reason: "A request must be a JSON object." };
  }
  const isNotification = value.id === undefined;
  const id = isNotification ? NULL_ID : idToken(value.id);
  if (id === undefined) {
    return { id: NULL_ID, reason: 'The member "id" must be a string, an integer or null.' };
  }
  if (value.jsonrpc !== "2.0") {
    return { id, reason: 'The member "jsonrpc" must be the string "2.0".' };
  }
  const { method } = value;
  if (typeof method !== "string" || method === "") {
    return { id, reason: 'The member "method" must be a string that is not empty.' };
  }
  // Absent and null parameters are taken as none, as other Ethereum servers do.
  const params = value.params ?? [];
  if (!Array.isArray(params) && !isObject(params)) {
    return { id, reason: 'The member "params" must be an array or an object.' };
  }
  return { id: isNotification ? undefined : id, method, params, wantsMeta: value.meta === true };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof IrregularNumber);
}

/** Integers of any length keep their digits; fractions and exponent forms are no legal ids. */
function idToken(id: unknown): IdToken | undefined {
  if (typeof id === "string") return JSON.stringify(id);
  if (typeof id === "number") return String(id);
  if (id === null) return NULL_ID;
  return id instanceof IrregularNumber && /^-?\d+$/.test(id.source) ? id.source : undefined;
}
