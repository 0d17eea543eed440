import type { ValidatorStatus } from "@lodestar/types";
import { nearestName } from "../../../errors/nearest-name.ts";
import { VALIDATOR_STATUSES } from "../../../json/validator-status.ts";
import { type ValidatorId, validatorHint, validatorId } from "../../params/identifiers.ts";
import { parseUint64 } from "../../params/scalars.ts";
import { describeValue, elementParser, paramSchema } from "../../params/schema.ts";

/** The goal of a `dev_advance` call. */
export type Goal =
  | "block"
  | "payload"
  | "empty"
  | "builder_paid"
  | "finalized"
  | "justified"
  | { slot: number }
  | { epoch: number }
  | { finalized: number }
  | ValidatorGoal;

export interface ValidatorGoal {
  validator: ValidatorId;
  status: ValidatorStatus;
}

const TAGS = ["block", "payload", "empty", "builder_paid", "finalized", "justified"] as const;

const parseValidator = elementParser(validatorId);

function parseGoal(value: unknown): Goal | undefined {
  if (TAGS.some((tag) => tag === value)) return value as Goal;
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.entries(value);
  const [[name, slotOrEpoch] = []] = members;
  if (members.length === 1 && (name === "slot" || name === "epoch" || name === "finalized")) {
    const at = parseUint64(slotOrEpoch);
    return at === undefined ? undefined : ({ [name]: at } as Goal);
  }
  const { validator, status, ...others } = value as Record<string, unknown>;
  const id = parseValidator(validator);
  const knownStatus = VALIDATOR_STATUSES.find((each) => each === status);
  if (id === undefined || knownStatus === undefined || Object.keys(others).length > 0) return undefined;
  return { validator: id, status: knownStatus };
}

function goalHint(value: unknown): string | undefined {
  if (typeof value === "string") {
    const tag = nearestName(value, TAGS);
    return tag && `Did you mean "${tag}"?`;
  }
  const { validator, status } = (value ?? {}) as Record<string, unknown>;
  if (validator === undefined || status === undefined) return undefined;
  if (parseValidator(validator) === undefined) {
    const hint = validatorHint(validator);
    return `${describeValue(validator)} is not a validator.${hint === undefined ? "" : ` ${hint}`}`;
  }
  if (typeof status !== "string" || VALIDATOR_STATUSES.some((each) => each === status)) return undefined;
  const similar = nearestName(status, VALIDATOR_STATUSES);
  return `${describeValue(status)} is not a status.${similar === undefined ? "" : ` Did you mean "${similar}"?`}`;
}

const integer = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
    { type: "integer", minimum: 0 },
  ],
};

const indexOrKey = { anyOf: [...integer.anyOf, { type: "string", pattern: "^0x[0-9a-fA-F]{96}$" }] };

export const goal = paramSchema<Goal>(
  '"block", for a newer head than now; "payload" or "empty", for a new block with or without its payload, and "builder_paid", for a payment by a builder, since gloas; "finalized" or "justified", for a newer checkpoint; {"slot": …}, {"epoch": …} or {"finalized": epoch}; or ' +
    `{"validator": index or public key, "status": …} with one of the statuses ${VALIDATOR_STATUSES.join(", ")}`,
  {
    anyOf: [
      { type: "string", enum: [...TAGS] },
      { type: "object", properties: { slot: integer }, required: ["slot"] },
      { type: "object", properties: { epoch: integer }, required: ["epoch"] },
      { type: "object", properties: { finalized: integer }, required: ["finalized"] },
      {
        type: "object",
        properties: { validator: indexOrKey, status: { type: "string", enum: [...VALIDATOR_STATUSES] } },
        required: ["validator", "status"],
      },
    ],
  },
  parseGoal,
  goalHint,
);
