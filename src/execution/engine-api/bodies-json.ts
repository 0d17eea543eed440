import type { PayloadBody } from "../engine.ts";
import { type JsonValue, UnexpectedValueError } from "../json-value.ts";
import { withdrawalFromJson } from "./payload-json.ts";

/** Decodes a list of ExecutionPayloadBodyV2 of the given length, with null for unknown blocks. */
export function bodiesByHashFromJson(json: JsonValue, count: number): (PayloadBody | null)[] {
  const bodies = bodiesFromJson(json);
  if (bodies.length === count) return bodies;
  throw new UnexpectedValueError(`received ${bodies.length} payload bodies, expected ${count}`);
}

/** Decodes a list of at most `count` bodies. It ends with the newest block of the client. */
export function bodiesByRangeFromJson(json: JsonValue, count: number): (PayloadBody | null)[] {
  const bodies = bodiesFromJson(json);
  if (bodies.length <= count) return bodies;
  throw new UnexpectedValueError(`received ${bodies.length} payload bodies, expected at most ${count}`);
}

function bodiesFromJson(json: JsonValue): (PayloadBody | null)[] {
  return json.list().map((body) => (body.isAbsent ? null : bodyFromJson(body)));
}

function bodyFromJson(json: JsonValue): PayloadBody {
  const withdrawals = json.member("withdrawals");
  const blockAccessList = json.member("blockAccessList");
  return {
    transactions: json
      .member("transactions")
      .list()
      .map((transaction) => transaction.byteList()),
    withdrawals: withdrawals.isAbsent ? null : withdrawals.list().map(withdrawalFromJson),
    blockAccessList: blockAccessList.isAbsent ? null : blockAccessList.byteList(),
  };
}
