import { ForkName, MAX_EFFECTIVE_BALANCE, MIN_DEPOSIT_AMOUNT } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional, required } from "../../definition.ts";
import { CREDENTIALS_TYPES, controlOf, type OperationStatus } from "../../dev-control.ts";
import { gweiBetween } from "../../params/gwei.ts";
import { type ValidatorId, validatorId } from "../../params/identifiers.ts";
import { boolean, executionAddress, parseFixedHex, parseInteger, stringEnum } from "../../params/scalars.ts";
import { elementParser, paramSchema } from "../../params/schema.ts";
import { described, either, type JsonSchema, list, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";

/** Maximum number of new validators per call. */
const MAX_NEW_VALIDATORS = 1024;
/** In Gwei. A million ETH, so that sums of balances are safe integers. */
const MAX_DEPOSIT = 10n ** 15n;

const parseValidator = elementParser(validatorId);

function parseValidators(value: unknown): ValidatorId[] | undefined {
  if (!Array.isArray(value)) {
    const id = parseValidator(value);
    return id === undefined ? undefined : [id];
  }
  const parsed = value.map((each) => parseValidator(each));
  const ids = parsed.filter((id) => id !== undefined);
  return ids.length > 0 && ids.length === parsed.length ? ids : undefined;
}

const validators = paramSchema(
  "a validator index or public key, or an array of these",
  {
    anyOf: [
      { type: "string" },
      { type: "integer", minimum: 0 },
      { type: "array", minItems: 1, items: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] } },
    ],
  },
  parseValidators,
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
  `a number of validators from 1 to ${MAX_NEW_VALIDATORS}`,
  { type: "integer", minimum: 1, maximum: MAX_NEW_VALIDATORS },
  (value) => Number(parseInteger(value, BigInt(MAX_NEW_VALIDATORS)) ?? 0) || undefined,
);

const depositAmount = gweiBetween(BigInt(MIN_DEPOSIT_AMOUNT), MAX_DEPOSIT);
const withdrawalAmount = gweiBetween(0n, 2n ** 64n - 1n);

/** Schema for a submitted operation. `type` is its name in the consensus specification. */
function operation(
  type: string,
  statuses: readonly OperationStatus[],
  data: JsonSchema,
  others: Record<string, JsonSchema> = {},
): JsonSchema {
  return object({
    type: { type: "string", const: type },
    status: described(
      { type: "string", enum: [...statuses] },
      "Where it waits: pooled in the operation pool, queued for the next execution payload, or logged by the deposit " +
        "chain for the eth1 vote.",
    ),
    data: described(data, "The operation in the JSON of the Beacon API."),
    ...others,
  });
}

const CONSOLIDATION = operation("consolidation_request", ["queued"], shape("ConsolidationRequest"));
const SLASHINGS = list(
  either(
    operation("proposer_slashing", ["pooled"], shape("ProposerSlashing")),
    operation("attester_slashing", ["pooled"], shape("AttesterSlashing")),
  ),
);
const CHANGE = either(
  operation("bls_to_execution_change", ["pooled"], shape("SignedBLSToExecutionChange")),
  CONSOLIDATION,
);
const DEPOSIT_ROOT = {
  deposit_data_root: described(
    shape("Root"),
    "Hash tree root of the deposit data: the last argument of the deposit contract.",
  ),
};
const DEPOSITS = list(
  either(
    operation("deposit_data", ["logged", "queued", "signed"], shape("DepositData"), DEPOSIT_ROOT),
    operation("deposit_request", ["queued"], shape("DepositRequest"), DEPOSIT_ROOT),
  ),
);

const VALIDATOR = required(validatorId, "Validator index or public key.");

const devSlash = defineMethod({
  ...DEV_METHOD,
  name: "dev_slash",
  summary: "Creates slashings: validators sign two blocks for one slot, or two attestations for one target.",
  params: {
    validators: required(validators, "One or more validators, by index or public key."),
    kind: optional(stringEnum(["proposer", "attester"]), "Kind of slashing. Default: proposer."),
  },
  result: { name: "operations", schema: SLASHINGS },
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control", params: [7, "attester"] },
  handler: (context, { validators, kind = "proposer" }) => controlOf(context).operations.slash(validators, kind),
});

const devExit = defineMethod({
  ...DEV_METHOD,
  name: "dev_exit",
  summary: "Creates a voluntary exit of a validator.",
  params: { validator: VALIDATOR },
  result: {
    name: "operation",
    schema: operation("voluntary_exit", ["pooled"], shape("SignedVoluntaryExit")),
  },
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control", params: [6] },
  handler: (context, { validator }) => controlOf(context).operations.exit(validator),
});

const devWithdraw = defineMethod({
  ...DEV_METHOD,
  name: "dev_withdraw",
  summary:
    "Creates a withdrawal request from the validator's withdrawal address (EIP-7002), for a part of the balance or a full exit.",
  params: {
    validator: VALIDATOR,
    amount: optional(withdrawalAmount, "Amount in Gwei, limited to the balance above 32 ETH. Default: 0, a full exit."),
  },
  result: {
    name: "operation",
    schema: operation("withdrawal_request", ["queued"], shape("WithdrawalRequest")),
  },
  failures: ["not-found", "rejected", "unsupported"],
  since: ForkName.electra,
  example: { stage: "control", params: [14] },
  handler: (context, { validator, amount = 0n }) => controlOf(context).operations.withdraw(validator, amount),
});

const devChangeCredentials = defineMethod({
  ...DEV_METHOD,
  name: "dev_changeCredentials",
  summary:
    "Changes a validator's withdrawal credentials: from BLS to execution by a signed change, from execution to compounding by " +
    "a request (EIP-7251).",
  params: {
    validator: VALIDATOR,
    address: optional(executionAddress, "Withdrawal address. Execution credentials keep theirs."),
    type: optional(stringEnum(CREDENTIALS_TYPES), 'Prefix of the new credentials. Default: "0x01".'),
  },
  result: { name: "operation", schema: CHANGE },
  failures: ["not-found", "rejected", "unsupported"],
  since: ForkName.capella,
  example: { stage: "control", params: [5, `0x${"a5".repeat(20)}`] },
  handler: (context, { validator, address, type = "0x01" }) =>
    controlOf(context).operations.changeCredentials(validator, type, address),
});

const devConsolidate = defineMethod({
  ...DEV_METHOD,
  name: "dev_consolidate",
  summary:
    "Creates a consolidation request from the validator's withdrawal address (EIP-7251): the source exits, and its balance " +
    "moves to the target.",
  params: {
    source: required(validatorId, "Index or public key of the source validator, which needs execution credentials."),
    target: required(validatorId, "Index or public key of the target validator, which needs compounding credentials."),
  },
  result: { name: "operation", schema: CONSOLIDATION },
  failures: ["not-found", "rejected", "unsupported"],
  since: ForkName.electra,
  example: { stage: "control", params: [14, 15] },
  handler: (context, { source, target }) => controlOf(context).operations.consolidate(source, target),
});

const devDeposit = defineMethod({
  ...DEV_METHOD,
  name: "dev_deposit",
  summary:
    "Creates deposits for new validators, with the chain's next keys, or tops up an existing one. New validators perform their " +
    "duties once they are active.",
  params: {
    count: optional(newValidators, "Number of new validators. Default: 1."),
    amount: optional(depositAmount, "Amount per deposit in Gwei. Default: 32 ETH."),
    withdrawalCredentials: optional(
      credentials,
      "Default: those set by --withdrawal-credentials; for a top-up, the credentials of the validator.",
    ),
    validator: optional(validatorId, "Validator to top up, instead of new ones."),
    badSignature: optional(
      boolean,
      "True for an invalid signature: the deposit adds no validator. A top-up ignores the signature.",
    ),
    submit: optional(
      boolean,
      "False to only sign the deposits, for a contract that makes them. Default: true. Signed keys stay the next ones until " +
        "their deposits are made, so another call returns the same keys: sign several at once with `count`.",
    ),
  },
  result: { name: "operations", schema: DEPOSITS },
  failures: ["not-found", "rejected", "unsupported"],
  example: { stage: "control", isShownLater: true },
  async handler(context, options) {
    const { validator, amount = BigInt(MAX_EFFECTIVE_BALANCE), count, withdrawalCredentials, badSignature } = options;
    if (validator !== undefined && count !== undefined) {
      throw invalidParams(
        "validator and count are mutually exclusive: a deposit is for an existing validator or for new ones.",
      );
    }
    const receiver = validator === undefined ? { newValidators: count ?? 1 } : { validator };
    const hasInvalidSignature = badSignature ?? false;
    const deposits = await controlOf(context).operations.deposit({
      receiver,
      amount,
      withdrawalCredentials,
      hasInvalidSignature,
      isSubmitted: options.submit ?? true,
    });
    return deposits.map(({ depositDataRoot, ...operation }) => ({ ...operation, deposit_data_root: depositDataRoot }));
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
