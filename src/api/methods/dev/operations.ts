import { ForkName, MAX_EFFECTIVE_BALANCE, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { CREDENTIALS_TYPES, controlOf, OPERATION_STATUSES } from "../../dev-control.ts";
import { type ValidatorId, validatorId } from "../../params/identifiers.ts";
import {
  boolean,
  exactUint64,
  executionAddress,
  INTEGER_NOTATION,
  parseFixedHex,
  parseInteger,
  stringEnum,
} from "../../params/scalars.ts";
import { elementParser, paramSchema } from "../../params/schema.ts";
import { described, list, object, text } from "../../schemas.ts";

/** As many as enter by one call. */
const MOST_NEW_VALIDATORS = 1024;
/** In Gwei: a million ETH, so that sums of balances are exact numbers. */
const LARGEST_DEPOSIT = 10 ** 15;

const readValidator = elementParser(validatorId);

function readValidators(value: unknown): ValidatorId[] | undefined {
  if (!Array.isArray(value)) {
    const one = readValidator(value);
    return one === undefined ? undefined : [one];
  }
  const read = value.map((each) => readValidator(each));
  const ids = read.filter((id) => id !== undefined);
  return ids.length > 0 && ids.length === read.length ? ids : undefined;
}

const validators = paramSchema(
  "a validator, by its index or public key, or an array of such",
  {
    anyOf: [
      { type: "string" },
      { type: "integer", minimum: 0 },
      { type: "array", minItems: 1, items: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] } },
    ],
  },
  readValidators,
);

const credentials = paramSchema(
  "withdrawal credentials: 0x followed by 64 hex digits",
  { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  (value) => {
    const hex = parseFixedHex(value, 32);
    return hex === undefined ? undefined : fromHex(hex);
  },
);

const newValidators = paramSchema(
  `a number of validators from 1 to ${MOST_NEW_VALIDATORS}`,
  { type: "integer", minimum: 1, maximum: MOST_NEW_VALIDATORS },
  (value) => Number(parseInteger(value, BigInt(MOST_NEW_VALIDATORS)) ?? 0) || undefined,
);

const depositAmount = paramSchema(
  `an amount in Gwei from ${MIN_DEPOSIT_AMOUNT} to ${LARGEST_DEPOSIT}, ${INTEGER_NOTATION}`,
  {
    anyOf: [
      { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
      { type: "integer", minimum: MIN_DEPOSIT_AMOUNT },
    ],
  },
  (value) => {
    const gwei = parseInteger(value, BigInt(LARGEST_DEPOSIT));
    return gwei === undefined || gwei < MIN_DEPOSIT_AMOUNT ? undefined : gwei;
  },
);

const MADE = object({
  type: described(text, "What was made, in the words of the standard, such as voluntary_exit or withdrawal_request."),
  status: described(
    { type: "string", enum: [...OPERATION_STATUSES] },
    "Where it waits: pooled with the operations that blocks take up, queued for the next execution payload, or logged by the " +
      "deposit chain, for which validators vote.",
  ),
  data: described({ type: "object" }, "What was made, in the JSON of the standard."),
});
const OPERATION = { name: "operation", schema: MADE };
const OPERATIONS = { name: "operations", schema: list(MADE) };

const VALIDATOR = required(validatorId, "The validator, by its index or public key.");

const devSlash = defineMethod({
  name: "dev_slash",
  summary: "Has validators sign what they are slashed for: two blocks of one slot, or two votes for one target.",
  params: {
    validators: required(validators, "One validator or several."),
    kind: optional(stringEnum(["proposer", "attester"]), "What they sign; by default blocks."),
  },
  result: OPERATIONS,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: [7, "attester"] },
  handler: (context, { validators, kind = "proposer" }) => controlOf(context).operations.slash(validators, kind),
});

const devExit = defineMethod({
  name: "dev_exit",
  summary: "Has a validator sign its voluntary exit.",
  params: { validator: VALIDATOR },
  result: OPERATION,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: [6] },
  handler: (context, { validator }) => controlOf(context).operations.exit(validator),
});

const devWithdraw = defineMethod({
  name: "dev_withdraw",
  summary:
    "Asks for the withdrawal of a part of a validator's balance, or for its exit, as its withdrawal address does by a request of " +
    "the execution layer (EIP-7002).",
  params: {
    validator: VALIDATOR,
    amount: optional(
      exactUint64,
      "In Gwei, of what is above 32 ETH; at most all of that is paid out. 0 or left out, the validator exits.",
    ),
  },
  result: OPERATION,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  since: ForkName.electra,
  example: { stage: "control", params: [14] },
  handler: (context, { validator, amount = 0n }) => controlOf(context).operations.withdraw(validator, amount),
});

const devChangeCredentials = defineMethod({
  name: "dev_changeCredentials",
  summary:
    "Changes a validator's withdrawal credentials: from a BLS key to an address by a signed change, and from there to those that " +
    "compound by a request of the execution layer (EIP-7251).",
  params: {
    validator: VALIDATOR,
    address: optional(executionAddress, "The address that the credentials are to name; one that is there stays."),
    type: optional(stringEnum(CREDENTIALS_TYPES), 'The first byte of the credentials; by default "0x01".'),
  },
  result: OPERATION,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  since: ForkName.capella,
  example: { stage: "control", params: [5, `0x${"a5".repeat(20)}`] },
  handler: (context, { validator, address, type = "0x01" }) =>
    controlOf(context).operations.changeCredentials(validator, type, address),
});

const devConsolidate = defineMethod({
  name: "dev_consolidate",
  summary:
    "Asks for the consolidation of a validator into another, as its withdrawal address does by a request of the execution layer " +
    "(EIP-7251): it exits, and its balance moves to the other.",
  params: {
    source: required(
      validatorId,
      "The validator that leaves, by its index or public key; it needs execution credentials.",
    ),
    target: required(validatorId, "The one that stays; it needs compounding credentials."),
  },
  result: OPERATION,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  since: ForkName.electra,
  example: { stage: "control", params: [14, 15] },
  handler: (context, { source, target }) => controlOf(context).operations.consolidate(source, target),
});

const devDeposit = defineMethod({
  name: "dev_deposit",
  summary:
    "Makes deposits: for new validators, with the next of the chain's keys, or for one that is there. Once active, new ones do " +
    "their duties like the others.",
  params: {
    validator: optional(validatorId, "The validator whose balance is to rise; by default a new one enters."),
    amount: optional(depositAmount, "In Gwei, of each deposit; by default 32 ETH."),
    count: optional(newValidators, "How many new validators are to enter; by default one."),
    withdrawalCredentials: optional(
      credentials,
      "By default those that a new validator's own key controls, or those that the validator has.",
    ),
    badSignature: optional(
      boolean,
      "Whether the signature is a wrong one, so that nobody enters; for a validator that is there nobody looks at it.",
    ),
  },
  result: OPERATIONS,
  failures: ["not-found", "rejected", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", isShownLater: true },
  handler(context, { validator, amount = BigInt(MAX_EFFECTIVE_BALANCE), count, withdrawalCredentials, badSignature }) {
    if (validator !== undefined && count !== undefined) {
      throw invalidParams(
        "validator and count exclude each other: a deposit is for one that is there, or for new ones.",
      );
    }
    const receiver = validator === undefined ? { newValidators: count ?? 1 } : { validator };
    const hasInvalidSignature = badSignature ?? false;
    return controlOf(context).operations.deposit({
      receiver,
      amount,
      withdrawalCredentials,
      hasInvalidSignature,
    });
  },
});

export const devOperationMethods = [
  devSlash,
  devExit,
  devWithdraw,
  devChangeCredentials,
  devConsolidate,
  devDeposit,
] as const;
