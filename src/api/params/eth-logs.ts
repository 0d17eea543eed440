import { z } from "zod";
import { BLOCK_TAGS } from "../../evm/eth/block-id.ts";
import type { LogQuery } from "../../evm/eth/logs/find-logs.ts";
import { parseBlockNumber } from "./eth.ts";
import { parseFixedHex } from "./scalars.ts";
import { addIssue, describeValue, firstMessage, type JsonForm, type ParamSchema } from "./schema.ts";

const MAX_TOPICS = 4;
const MAX_ALTERNATIVES = 1000;

const hexForm = (size: number): JsonForm => ({ type: "string", pattern: `^0x[0-9a-fA-F]{${2 * size}}$` });
const oneOrMore = (form: JsonForm): JsonForm => ({ anyOf: [form, { type: "array", items: form }, { type: "null" }] });
const BLOCK_FORM: JsonForm = {
  anyOf: [
    { type: "string", enum: [...BLOCK_TAGS] },
    { type: "string", pattern: "^0x[0-9a-fA-F]{1,16}$" },
    { type: "null" },
  ],
};

interface Member {
  form: JsonForm;
  expected: string;
  /** Name in the query. */
  key: keyof LogQuery;
  parse(value: unknown): unknown;
}

const MEMBERS: Readonly<Record<string, Member>> = {
  address: {
    form: oneOrMore(hexForm(20)),
    expected: "an address or an array of addresses",
    key: "addresses",
    parse: (value) => alternatives(value, 20),
  },
  topics: {
    form: { type: "array", items: oneOrMore(hexForm(32)), maxItems: MAX_TOPICS },
    expected: `an array of at most ${MAX_TOPICS} topics, each a hash, an array of hashes or null`,
    key: "topics",
    parse: (value) => {
      if (!Array.isArray(value) || value.length > MAX_TOPICS) return undefined;
      const topics = value.map((topic) => (topic === null ? null : alternatives(topic, 32)));
      return topics.includes(undefined) ? undefined : topics;
    },
  },
  fromBlock: { form: BLOCK_FORM, expected: "a block number or tag", key: "fromBlock", parse: parseBlockNumber },
  toBlock: { form: BLOCK_FORM, expected: "a block number or tag", key: "toBlock", parse: parseBlockNumber },
  blockHash: {
    form: { anyOf: [hexForm(32), { type: "null" }] },
    expected: "a block hash",
    key: "blockHash",
    parse: (value) => parseFixedHex(value, 32),
  },
};

/** Logs of a range of blocks or of one block, as `eth_getLogs` takes it. */
export const logQuery: ParamSchema<LogQuery> = createSchema();

function createSchema(): ParamSchema<LogQuery> {
  const properties = Object.fromEntries(
    Object.entries(MEMBERS).map(([name, { form }]) => [name, { anyOf: [form, { type: "null" }] }]),
  );
  return z
    .unknown()
    .meta({
      type: "object",
      properties,
      additionalProperties: false,
      not: { required: ["blockHash", "fromBlock"] },
    })
    .transform((value, context) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return addIssue(context, value, `must be a filter object, but ${describeValue(value)} was given.`);
      }
      const query: Record<string, unknown> = {};
      for (const [name, given] of Object.entries(value)) {
        const member = MEMBERS[name];
        if (member === undefined) return addIssue(context, value, `has an unknown member ${describeValue(name)}.`);
        if (given === null || given === undefined) continue;
        const parsed = member.parse(given);
        if (parsed === undefined) {
          const problem = `it must be ${member.expected}, but ${describeValue(given)} was given.`;
          return addIssue(context, value, `has a wrong member "${name}": ${problem}`);
        }
        query[member.key] = parsed;
      }
      if (query.blockHash !== undefined && (query.fromBlock ?? query.toBlock) !== undefined) {
        return addIssue(context, value, 'has "blockHash" together with "fromBlock" or "toBlock". Give one of them.');
      }
      return query as LogQuery;
    });
}

function alternatives(value: unknown, size: number): string[] | undefined {
  const values = Array.isArray(value) ? value : [value];
  if (values.length > MAX_ALTERNATIVES) return undefined;
  const parsed = values.map((each) => parseFixedHex(each, size));
  return parsed.includes(undefined) ? undefined : (parsed as string[]);
}

/** Second parameter of `eth_subscribe`: a filter for logs, or whether transactions are sent whole. */
export const subscriptionOptions: ParamSchema<LogQuery | boolean> = z
  .unknown()
  .meta({ anyOf: [{ type: "boolean" }, z.toJSONSchema(logQuery, { io: "input" }) as JsonForm] })
  .transform((value, context) => {
    if (typeof value === "boolean") return value;
    const parsed = logQuery.safeParse(value);
    return parsed.success ? parsed.data : addIssue(context, value, firstMessage(parsed.error));
  });
