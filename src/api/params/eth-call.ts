import { z } from "zod";
import type {
  AccountOverride,
  BlockOverrides,
  CallRequest,
  SimulatedBlock,
  Simulation,
  StateOverrides,
} from "../../evm/eth/calls/call-request.ts";
import { bytes, ethAddress, parseData, quantity64, quantity256 } from "./eth.ts";
import { boolean, parseFixedHex } from "./scalars.ts";
import { addIssue, describeValue, firstMessage, type ParamSchema, paramSchema, parseWith } from "./schema.ts";

export type FieldSchemas<T> = { readonly [Key in keyof T]-?: ParamSchema<NonNullable<T[Key]>> };

/** Schema of an object with optional fields. A null field counts as absent. Unknown fields are ignored, as by geth. */
export function optionalFields<T extends object>(noun: string, fields: FieldSchemas<T>): ParamSchema<T> {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, formOf(schema as z.ZodType)]),
  );
  return z
    .unknown()
    .meta({ type: "object", properties })
    .transform((value, context) => {
      if (!isObject(value)) return addIssue(context, value, `must be ${noun}, but ${describeValue(value)} was given.`);
      const parsed: Record<string, unknown> = {};
      for (const [name, schema] of Object.entries(fields)) {
        const given = value[name];
        if (given === undefined || given === null) continue;
        const result = parseWith(schema as ParamSchema<unknown>, given);
        if (!result.success)
          return addIssue(context, value, `has an invalid "${name}": it ${firstMessage(result.error)}`);
        parsed[name] = result.data;
      }
      return parsed as T;
    });
}

function arrayOf<T>(noun: string, element: ParamSchema<T>): ParamSchema<T[]> {
  return z
    .unknown()
    .meta({ type: "array", items: formOf(element) })
    .transform((value, context) => {
      if (!Array.isArray(value)) {
        return addIssue(context, value, `must be an array of ${noun}, but ${describeValue(value)} was given.`);
      }
      const elements: T[] = [];
      for (const [position, given] of value.entries()) {
        const result = parseWith(element, given);
        if (!result.success) {
          return addIssue(
            context,
            value,
            `has an invalid element at position ${position}: it ${firstMessage(result.error)}`,
          );
        }
        elements.push(result.data);
      }
      return elements;
    });
}

/** Schema of an object whose keys are hex of a fixed size. */
function hexRecord<T>(noun: string, keySize: number, element: ParamSchema<T>): ParamSchema<[Uint8Array, T][]> {
  const form = { type: "object", additionalProperties: formOf(element) };
  return z
    .unknown()
    .meta(form)
    .transform((value, context) => {
      if (!isObject(value)) return addIssue(context, value, `must be ${noun}, but ${describeValue(value)} was given.`);
      const entries: [Uint8Array, T][] = [];
      for (const [key, given] of Object.entries(value)) {
        if (parseFixedHex(key, keySize) === undefined) {
          return addIssue(context, value, `must be ${noun}, but ${describeValue(key)} is a key.`);
        }
        const result = parseWith(element, given);
        if (!result.success)
          return addIssue(context, value, `has an invalid "${key}": it ${firstMessage(result.error)}`);
        entries.push([parseData(key)!, result.data]);
      }
      return entries;
    });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function formOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...form } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return form;
}

const word: ParamSchema<Uint8Array> = paramSchema(
  "32 bytes: 0x followed by 64 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  (value) => (parseFixedHex(value, 32) === undefined ? undefined : parseData(value)),
);

const accessList = arrayOf(
  "access list entries",
  optionalFields<{ address?: Uint8Array; storageKeys?: Uint8Array[] }>("an access list entry", {
    address: ethAddress,
    storageKeys: arrayOf("storage keys", word),
  }).transform(({ address, storageKeys = [] }, context) => {
    if (address === undefined) return addIssue(context, address, 'has no "address".');
    return { address, storageKeys };
  }),
);

interface AuthorizationFields {
  chainId?: bigint;
  address?: Uint8Array;
  nonce?: bigint;
  yParity?: bigint;
  r?: bigint;
  s?: bigint;
}

const authorization = optionalFields<AuthorizationFields>("an authorization", {
  chainId: quantity256,
  address: ethAddress,
  nonce: quantity64,
  yParity: quantity64,
  r: quantity256,
  s: quantity256,
}).transform((fields, context) => {
  const { chainId, address, nonce, yParity, r, s } = fields;
  for (const [name, value] of Object.entries({ chainId, address, nonce, yParity, r, s })) {
    if (value === undefined) return addIssue(context, fields, `has no "${name}".`);
  }
  return { chainId, address, nonce, yParity, r, s } as Required<AuthorizationFields>;
});

/** `data` and `input` are the same field, under its old and its new name. */
type CallFields = CallRequest & { input?: Uint8Array };

const CALL_FIELDS: FieldSchemas<CallFields> = {
  from: ethAddress,
  to: ethAddress,
  gas: quantity64,
  gasPrice: quantity256,
  maxFeePerGas: quantity256,
  maxPriorityFeePerGas: quantity256,
  maxFeePerBlobGas: quantity256,
  value: quantity256,
  data: bytes,
  input: bytes,
  nonce: quantity64,
  accessList,
  authorizationList: arrayOf("authorizations", authorization),
  blobVersionedHashes: arrayOf("versioned hashes", word),
};

/** A call, as in `GenericTransaction` of execution-apis. */
export const callRequest: ParamSchema<CallRequest> = optionalFields<CallFields>("a call object", CALL_FIELDS).transform(
  ({ input, ...call }, context) => {
    if (input === undefined) return call;
    if (call.data !== undefined && Buffer.compare(call.data, input) !== 0) {
      return addIssue(context, input, 'has both "data" and "input", and they differ. Give one of them.');
    }
    return { ...call, data: input };
  },
);

const slots = hexRecord("an object with slots of 32 bytes in hex as keys", 32, word);

const accountOverride = optionalFields<AccountOverride>("an object of overrides", {
  nonce: quantity64,
  balance: quantity256,
  code: bytes,
  state: slots,
  stateDiff: slots,
});

export const stateOverrides: ParamSchema<StateOverrides> = hexRecord(
  "an object with addresses as keys",
  20,
  accountOverride,
);

export const blockOverrides: ParamSchema<BlockOverrides> = optionalFields<BlockOverrides>("an object of overrides", {
  number: quantity64,
  time: quantity64,
  gasLimit: quantity64,
  feeRecipient: ethAddress,
  prevRandao: word,
  baseFeePerGas: quantity256,
  blobBaseFee: quantity256,
});

const simulatedBlock = optionalFields<SimulatedBlock>("an object with calls and overrides", {
  blockOverrides,
  stateOverrides,
  calls: arrayOf("calls", callRequest),
});

export const simulation: ParamSchema<Simulation> = optionalFields<Partial<Simulation>>(
  "an object with blockStateCalls",
  {
    blockStateCalls: arrayOf("simulated blocks", simulatedBlock),
    traceTransfers: boolean,
    validation: boolean,
    returnFullTransactions: boolean,
  },
).transform(({ blockStateCalls, ...options }, context) => {
  if (blockStateCalls === undefined || blockStateCalls.length === 0) {
    return addIssue(context, options, 'must have at least one block in "blockStateCalls".');
  }
  return { blockStateCalls, ...options };
});
