import { z } from "zod";
import type { LogQuery } from "../../evm/eth/logs/log-query.ts";
import { ADDRESS, ADDRESS_FORM, blockNumber, hash32 } from "./eth.ts";
import { arrayOf, type FieldSchemas, optionalFields } from "./objects.ts";
import { parseFixedHex } from "./scalars.ts";
import { addIssue, describeValue, firstMessage, formOf, type ParamSchema, paramSchema, parseWith } from "./schema.ts";

const MAX_TOPICS = 4;
const MAX_ALTERNATIVES = 1000;

const address: ParamSchema<string> = paramSchema(ADDRESS, ADDRESS_FORM, (value) => parseFixedHex(value, 20));

/** Schema for a single value or an array of alternatives. */
function oneOrMore(noun: string, element: ParamSchema<string>): ParamSchema<string[]> {
  const several = arrayOf(noun, element, MAX_ALTERNATIVES);
  return z
    .unknown()
    .meta({
      get anyOf() {
        return [formOf(element), formOf(several)];
      },
    })
    .transform((value, context) => {
      const parsed = parseWith(several, Array.isArray(value) ? value : [value]);
      if (parsed.success) return parsed.data;
      if (Array.isArray(value)) return addIssue(context, value, firstMessage(parsed.error));
      return addIssue(context, value, `must be one or an array of ${noun}, but ${describeValue(value)} was given.`);
    });
}

const hashes = oneOrMore("hashes of 32 bytes", hash32);

/** Null matches any topic. */
const topic: ParamSchema<string[] | null> = z
  .unknown()
  .meta({
    get anyOf() {
      return [formOf(hashes), { type: "null" }];
    },
  })
  .transform((value, context) => {
    if (value === null) return null;
    const parsed = parseWith(hashes, value);
    return parsed.success ? parsed.data : addIssue(context, value, firstMessage(parsed.error));
  });

const FIELDS: FieldSchemas<Omit<LogQuery, "addresses"> & { address?: string[] }> = {
  address: oneOrMore("addresses", address),
  topics: arrayOf("topics", topic, MAX_TOPICS),
  fromBlock: blockNumber,
  toBlock: blockNumber,
  blockHash: hash32,
};

/** Filter for `eth_getLogs`: a range of blocks or a single block. */
export const logQuery: ParamSchema<LogQuery> = optionalFields("a filter object", FIELDS, {
  unknownFields: "refused",
}).transform(({ address: addresses, ...query }, context) => {
  if (query.blockHash !== undefined && (query.fromBlock ?? query.toBlock) !== undefined) {
    return addIssue(context, query, 'has "blockHash" together with "fromBlock" or "toBlock". Give one of them.');
  }
  return { ...query, ...(addresses && { addresses }) };
});

/** Second parameter of `eth_subscribe`: a filter for logs, or true for full transactions. */
export const subscriptionOptions: ParamSchema<LogQuery | boolean> = z
  .unknown()
  .meta({
    get anyOf() {
      return [{ type: "boolean" }, formOf(logQuery)];
    },
  })
  .transform((value, context) => {
    if (typeof value === "boolean") return value;
    const parsed = logQuery.safeParse(value);
    return parsed.success ? parsed.data : addIssue(context, value, firstMessage(parsed.error));
  });
