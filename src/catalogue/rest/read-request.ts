import { fromHex } from "@lodestar/utils";
import { parseGraffiti } from "../../chain/graffiti.ts";
import { invalidParams } from "../../failure.ts";
import type { RestRequest } from "../../server/rest/route-table.ts";
import { validatorIds } from "../params/validator-ids.ts";
import type { CodecRequest, Definition, ParamTypes, RequestTypes } from "./definition.ts";
import { parseJson } from "./method-call.ts";
import { idList, indexList, type ParamType, read, readParam, statusList } from "./param-forms.ts";
import { Query } from "./query.ts";

export interface ReadRequest {
  args: unknown;
  /** The body, if it was SSZ. */
  sszBytes: Uint8Array | null;
}

/** What a route's codecs make of a request; throws what is wrong with it. */
export function readRequest(
  operation: string,
  definition: Definition,
  types: RequestTypes,
  request: RestRequest,
): ReadRequest {
  const { req } = definition;
  const parsed: CodecRequest = {
    params: readParams(types.params, (name) => request.params[name]),
    query: readQuery(types.querystring, new Query(request.query)),
    headers: request.headers,
  };
  const special = SPECIAL_READERS[operation];
  if (req.parseReq) return { args: special?.(parsed) ?? decoded(req.parseReq, parsed), sszBytes: null };

  const bodyType = types.body?.content["application/json"]?.schema ?? {};
  if (request.bodyFormat === "ssz") {
    // A plain array of bytes: the codecs rely on its slices being copies.
    const sszBytes = new Uint8Array(request.body ?? []);
    return { args: decoded(req.parseReqSsz, { ...parsed, body: sszBytes }), sszBytes };
  }
  const body = request.body?.length ? parseJson(request.body) : undefined;
  if (special) return { args: special(parsed, body), sszBytes: null };
  return { args: decoded(req.parseReqJson, { ...parsed, body: checkedBody(body, bodyType) }), sszBytes: null };
}

/** The interface has keys where the standard has indices: both are taken. */
const readDuties = ({ params }: CodecRequest, body: unknown) => ({
  ...params,
  indices: read(validatorIds, body ?? [], "The body"),
});

const SPECIAL_READERS: Record<string, (request: CodecRequest, body?: unknown) => unknown> = {
  // The codec makes text of graffiti, which not all graffiti are.
  produceBlockV3: ({ params, query }) => ({
    slot: params.slot,
    randaoReveal: fromHex(query.randao_reveal as string),
    graffiti: query.graffiti === undefined ? undefined : parseGraffiti(query.graffiti as string),
    feeRecipient: query.fee_recipient === undefined ? undefined : fromHex(query.fee_recipient as string),
    skipRandaoVerification: query.skip_randao_verification,
  }),
  getAttesterDuties: readDuties,
  getSyncCommitteeDuties: readDuties,
  postStateValidators: ({ params }, body) => {
    const { ids, statuses } = objectOf(body ?? {}) as { ids?: unknown; statuses?: unknown };
    return {
      stateId: params.state_id,
      validatorIds: ids == null ? undefined : read(idList, ids, 'The member "ids"'),
      statuses: statuses == null ? undefined : read(statusList, statuses, 'The member "statuses"'),
    };
  },
};

function readParams(types: ParamTypes | undefined, given: (name: string) => string | undefined) {
  const values: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(types?.properties ?? {})) {
    const text = given(name);
    if (text !== undefined) values[name] = readParam(name, type, text);
  }
  return values;
}

function readQuery(types: ParamTypes | undefined, query: Query): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(types?.properties ?? {})) {
    const given = type.type === "array" ? query.list(name) : query.one(name);
    if (given !== undefined) values[name] = readParam(name, type, given);
    else if (types?.required.includes(name)) throw invalidParams(`The parameter "${name}" is missing.`);
  }
  return values;
}

function checkedBody(body: unknown, { type, items }: ParamType): unknown {
  if (type === "object") return objectOf(body);
  // Filters may be left out.
  if (body === undefined && items !== undefined && items.type === undefined) return [];
  if (!Array.isArray(body)) throw invalidParams("The body must be a JSON array.");
  if (items?.type === "object") return body.map(objectOf);
  if (items?.type === "string") return (read(indexList, body, "The body") as number[]).map(String);
  return read(idList, body, "The body");
}

function objectOf(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalidParams("The body must hold a JSON object where it has something else.");
}

function decoded(reader: ((request: CodecRequest) => unknown) | undefined, request: CodecRequest): unknown {
  try {
    return reader?.(request);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidParams(`The request cannot be read: ${reason}`, { cause });
  }
}
