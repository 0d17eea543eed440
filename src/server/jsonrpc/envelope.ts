import { isJsonObject } from "../../json/json-object.ts";
import { IrregularNumber } from "../../json/parse.ts";
import type { Params } from "../method-table.ts";

/** The JSON text of an id, which is echoed as received. */
export type IdToken = string;

export const NULL_ID: IdToken = "null";

const MAX_EXAMPLE_LENGTH = 100;

/** A valid request object. If it has no id, it is a notification and gets no response. */
export interface Call {
  id: IdToken | undefined;
  method: string;
  params: Params;
  /**
   * True if the request has the extension member `"meta": true`, in which case the response includes the metadata of
   * the result.
   */
  wantsMeta: boolean;
}

/** An invalid request object. `reason` is a complete sentence. */
export interface InvalidRequest {
  id: IdToken;
  reason: string;
}

export function isInvalid(request: Call | InvalidRequest): request is InvalidRequest {
  return "reason" in request;
}

/** Validates a parsed request object (JSON-RPC 2.0, section 4). Ignores unknown members. */
export function parseRequest(value: unknown): Call | InvalidRequest {
  if (!isJsonObject(value)) {
    return { id: NULL_ID, reason: "A request must be a JSON object." };
  }
  const isNotification = value.id === undefined;
  const id = isNotification ? NULL_ID : idToken(value.id);
  if (id === undefined) {
    return { id: NULL_ID, reason: '"id" must be a string, an integer or null.' };
  }
  if (value.jsonrpc !== "2.0") {
    return { id, reason: '"jsonrpc" must be the string "2.0".' };
  }
  const { method } = value;
  if (typeof method !== "string" || method === "") {
    return { id, reason: '"method" must be a non-empty string.' };
  }
  // Params that are missing or null are treated as an empty list, as in other Ethereum servers.
  const params = value.params ?? [];
  if (!isParams(params)) {
    return { id, reason: `"params" must be an array or an object${exampleOf(params)}.` };
  }
  return { id: isNotification ? undefined : id, method, params, wantsMeta: value.meta === true };
}

/** Returns true for an array or object. */
export function isParams(value: unknown): value is Params {
  return Array.isArray(value) || isJsonObject(value);
}

/** Returns an example that shows how to wrap a bare value in an array. */
function exampleOf(value: unknown): string {
  if (value instanceof IrregularNumber) return `, such as [${value.source.slice(0, MAX_EXAMPLE_LENGTH)}]`;
  const isLong = typeof value === "string" && value.length > MAX_EXAMPLE_LENGTH;
  return isLong ? "" : `, such as [${JSON.stringify(value)}]`;
}

/** Encodes an id. Preserves integers of any length, but rejects fractions and exponents. */
function idToken(id: unknown): IdToken | undefined {
  if (typeof id === "string") return JSON.stringify(id);
  if (typeof id === "number") return String(id);
  if (id === null) return NULL_ID;
  return id instanceof IrregularNumber && /^-?\d+$/.test(id.source) ? id.source : undefined;
}
