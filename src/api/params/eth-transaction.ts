import type { CallRequest } from "../../evm/eth/calls/call-request.ts";
import type { AccessListEntry, Authorization, TransactionRequest } from "../../evm/eth/transaction-request.ts";
import { bytes, ethAddress, parseData, parseQuantity, quantity64, quantity256, word } from "./eth.ts";
import { arrayOf, type FieldSchemas, optionalFields, requiredFields } from "./objects.ts";
import { parseFixedHex } from "./scalars.ts";
import { addIssue, elementParser, type ParamSchema, paramSchema, withParser } from "./schema.ts";

const MAX_TYPE = 4n;

const transactionType: ParamSchema<number> = paramSchema(
  "a transaction type from 0x0 to 0x4",
  { type: "string", pattern: "^0x0?[0-4]$" },
  (value) => {
    const type = parseQuantity(value, MAX_TYPE);
    return type === undefined ? undefined : Number(type);
  },
);

/** When creating a contract, some libraries write "0x". */
const recipient: ParamSchema<Uint8Array> = paramSchema(
  "an address: 0x followed by 40 hex digits",
  { type: "string", pattern: "^0x([0-9a-fA-F]{40})?$" },
  (value) => (value === "0x" || parseFixedHex(value, 20) !== undefined ? parseData(value) : undefined),
);

const parity: ParamSchema<bigint> = paramSchema("0x0 or 0x1", { type: "string", pattern: "^0x0?[01]$" }, (value) =>
  parseQuantity(value, 1n),
);

const accessListEntry = optionalFields<Partial<AccessListEntry>>("an access list entry", {
  address: ethAddress,
  storageKeys: arrayOf("storage keys", word),
}).transform(({ address, storageKeys = [] }, context) =>
  address === undefined ? addIssue(context, address, 'has no "address".') : { address, storageKeys },
);

const authorization = requiredFields<Authorization>("an authorization", {
  chainId: quantity256,
  address: ethAddress,
  nonce: quantity64,
  yParity: parity,
  r: quantity256,
  s: quantity256,
});

/** `data` and `input` are the old and the new name for the same field. */
type ParsedFields = TransactionRequest & { input?: Uint8Array };

const FIELDS: FieldSchemas<ParsedFields> = {
  from: ethAddress,
  to: recipient,
  gas: quantity64,
  gasPrice: quantity256,
  maxFeePerGas: quantity256,
  maxPriorityFeePerGas: quantity256,
  maxFeePerBlobGas: quantity256,
  value: quantity256,
  data: bytes,
  input: bytes,
  nonce: quantity64,
  chainId: quantity256,
  type: transactionType,
  accessList: arrayOf("access list entries", accessListEntry),
  blobVersionedHashes: arrayOf("versioned hashes", word),
  authorizationList: arrayOf("authorizations", authorization),
};

/** A transaction to be signed. Unknown members are rejected, so that a misspelled member does not go unnoticed. */
export const transactionRequest: ParamSchema<TransactionRequest> = requestSchema("a transaction object", "refused");

/** A call, as in `GenericTransaction` in execution-apis. */
export const callRequest: ParamSchema<CallRequest> = requestSchema("a call object", "ignored");

function requestSchema(noun: string, unknownFields: "ignored" | "refused"): ParamSchema<TransactionRequest> {
  const fields = optionalFields(noun, FIELDS, { unknownFields });
  const schema = fields.transform(
    (parsed, context) =>
      merged(parsed) ??
      addIssue(context, parsed.input, 'has both "data" and "input", and they differ. Give one of them.'),
  );
  const parseFields = elementParser(fields);
  return withParser(schema, (value) => {
    const parsed = parseFields(value);
    return parsed && merged(parsed);
  });
}

/** Returns the fields with one name for the data. Undefined if "data" and "input" differ. */
function merged({ input, to, data, ...others }: ParsedFields): TransactionRequest | undefined {
  if (input !== undefined && data !== undefined && Buffer.compare(data, input) !== 0) return undefined;
  const bytesToSend = input ?? data;
  return { ...others, ...(to && to.length > 0 && { to }), ...(bytesToSend && { data: bytesToSend }) };
}
