import { z } from "zod";
import { nearestName } from "../../errors/nearest-name.ts";
import type { TransactionRequest } from "../../evm/eth/transaction-request.ts";
import { parseData, parseQuantity } from "./eth.ts";
import { parseFixedHex } from "./scalars.ts";
import { addIssue, describeValue, type JsonForm, type ParamSchema } from "./schema.ts";

const MAX_UINT64 = 2n ** 64n - 1n;
const QUANTITY_FORM: JsonForm = { type: "string", pattern: "^0x[0-9a-fA-F]{1,64}$" };
const DATA_FORM: JsonForm = { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" };
const hexForm = (size: number): JsonForm => ({ type: "string", pattern: `^0x[0-9a-fA-F]{${2 * size}}$` });

interface Field {
  form: JsonForm;
  /** What the value has to be, after "must be". */
  expected: string;
  parse(value: unknown): unknown;
}

const quantity = (max?: bigint): Field => ({
  form: QUANTITY_FORM,
  expected: "an integer in hex",
  parse: (value) => parseQuantity(value, max),
});
const fixed = (size: number, noun: string): Field => ({
  form: hexForm(size),
  expected: `${noun}: 0x followed by ${2 * size} hex digits`,
  parse: (value) => (parseFixedHex(value, size) === undefined ? undefined : parseData(value)),
});
const bytes: Field = { form: DATA_FORM, expected: "bytes in hex", parse: parseData };
const address = fixed(20, "an address");
const hash = fixed(32, "a hash");

function listOf(item: Field, noun: string): Field {
  return {
    form: { type: "array", items: item.form },
    expected: `an array of ${noun}`,
    parse: (value) => {
      if (!Array.isArray(value)) return undefined;
      const items = value.map(item.parse);
      return items.includes(undefined) ? undefined : items;
    },
  };
}

function objectOf(fields: Record<string, Field>, noun: string): Field {
  const names = Object.keys(fields);
  return {
    form: {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, fields[name]!.form])),
      required: names,
      additionalProperties: true,
    },
    expected: noun,
    parse: (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
      const entries = names.map((name) => [name, fields[name]!.parse((value as Record<string, unknown>)[name])]);
      return entries.some(([, parsed]) => parsed === undefined) ? undefined : Object.fromEntries(entries);
    },
  };
}

const accessListEntry = objectOf({ address, storageKeys: listOf(hash, "slots") }, "an entry of an access list");
const authorization = objectOf(
  { chainId: quantity(), address, nonce: quantity(MAX_UINT64), yParity: quantity(1n), r: quantity(), s: quantity() },
  "a signed authorization",
);

const FIELDS: Readonly<Record<string, Field>> = {
  from: address,
  to: {
    ...address,
    form: { anyOf: [address.form, { type: "null" }] },
    parse: (value) => (value === null || value === "0x" ? null : address.parse(value)),
  },
  gas: quantity(MAX_UINT64),
  gasPrice: quantity(),
  maxFeePerGas: quantity(),
  maxPriorityFeePerGas: quantity(),
  maxFeePerBlobGas: quantity(),
  value: quantity(),
  data: bytes,
  input: bytes,
  nonce: quantity(MAX_UINT64),
  chainId: quantity(),
  type: quantity(4n),
  accessList: listOf(accessListEntry, "entries with an address and storageKeys"),
  blobVersionedHashes: listOf(hash, "hashes"),
  authorizationList: listOf(authorization, "signed authorizations"),
};

/** A transaction object as `eth_sendTransaction` and `eth_call` take it. Absent and null members are left out. */
export const transactionRequest: ParamSchema<TransactionRequest> = z
  .unknown()
  .meta({
    type: "object",
    properties: Object.fromEntries(Object.entries(FIELDS).map(([name, { form }]) => [name, nullable(form)])),
    additionalProperties: false,
  })
  .transform((value, context) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return addIssue(context, value, `must be a transaction object, but ${describeValue(value)} was given.`);
    }
    const request: Record<string, unknown> = {};
    for (const [name, given] of Object.entries(value)) {
      const field = FIELDS[name];
      if (field === undefined) return addIssue(context, value, unknownMember(name));
      if (given === undefined || (given === null && name !== "to")) continue;
      const parsed = field.parse(given);
      if (parsed === undefined) {
        const problem = `has a wrong member "${name}": it must be ${field.expected}, but ${describeValue(given)} was given.`;
        return addIssue(context, value, problem);
      }
      request[name] = parsed;
    }
    const { input, data = input, type, ...others } = request;
    if (input !== undefined && Buffer.compare(input as Uint8Array, data as Uint8Array) !== 0) {
      return addIssue(context, value, 'has both "data" and "input", and they differ. Give one of them.');
    }
    return {
      ...others,
      ...(data !== undefined && { data }),
      ...(type !== undefined && { type: Number(type) }),
    } as TransactionRequest;
  });

function nullable(form: JsonForm): JsonForm {
  return { anyOf: [form, { type: "null" }] };
}

function unknownMember(name: string): string {
  const meant = nearestName(name, Object.keys(FIELDS));
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  return `has an unknown member ${describeValue(name)}.${hint}`;
}
