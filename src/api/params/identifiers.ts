import type { routes } from "@lodestar/api";
import { VALIDATOR_REGISTRY_LIMIT } from "@lodestar/params";
import { nearestName } from "../../errors/nearest-name.ts";
import { VALIDATOR_STATUSES } from "../../json/validator-status.ts";
import {
  decimalHint,
  nonEmptyListOf,
  PUBKEY_PATTERN,
  parseFixedHex,
  parseInteger,
  parsePubkey,
  parseUint64,
  prefixHint,
  stringEnum,
  uint64,
} from "./scalars.ts";
import { type Hint, type JsonForm, paramSchema } from "./schema.ts";

type StateId = routes.beacon.state.StateId;
type BlockId = routes.beacon.block.BlockId;
/** A validator's index, or its public key in lowercase hex. */
export type ValidatorId = routes.beacon.state.ValidatorId;

const STATE_TAGS: readonly string[] = ["head", "genesis", "finalized", "justified"];
/** The Beacon API has no block id `justified`. */
const BLOCK_TAGS: readonly string[] = ["head", "genesis", "finalized"];

function identifierForm(strings: string): JsonForm {
  return {
    anyOf: [
      { type: "string", pattern: `^(${strings}|0|[1-9][0-9]*)$` },
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    ],
  };
}

function parseIdentifier(value: unknown, tags: readonly string[]): StateId | undefined {
  if (typeof value === "string" && tags.includes(value)) return value;
  return parseUint64(value) ?? parseFixedHex(value, 32);
}

/** Tags in the execution API and their equivalents in the Beacon API. */
const EXECUTION_TAGS: ReadonlyMap<string, string> = new Map([
  ["latest", "head"],
  ["pending", "head"],
  ["safe", "justified"],
  ["earliest", "genesis"],
]);
/** Longer values are not mistyped identifiers. */
const MAX_HINTED_LENGTH = 80;

const decimalSlot = decimalHint("Slots");
const prefixedRoot = prefixHint("Roots", 32);

function identifierHint(tags: readonly string[]): Hint {
  return (value) => {
    if (typeof value !== "string" || value.length > MAX_HINTED_LENGTH) return undefined;
    const suggestion = EXECUTION_TAGS.get(value.toLowerCase()) ?? nearestName(value, tags);
    if (suggestion !== undefined && tags.includes(suggestion)) return `Did you mean "${suggestion}"?`;
    return decimalSlot(value) ?? prefixedRoot(value);
  };
}

const ROOT_PATTERN = "0x[0-9a-fA-F]{64}";

export const stateId = paramSchema<StateId>(
  'a state id: "head", "genesis", "finalized", "justified", a slot, or a state root of 0x and 64 hex digits',
  identifierForm(`${STATE_TAGS.join("|")}|${ROOT_PATTERN}`),
  (value) => parseIdentifier(value, STATE_TAGS),
  identifierHint(STATE_TAGS),
);

export const blockId = paramSchema<BlockId>(
  'a block id: "head", "genesis", "finalized", a slot, or a block root of 0x and 64 hex digits',
  identifierForm(`${BLOCK_TAGS.join("|")}|${ROOT_PATTERN}`),
  (value) => parseIdentifier(value, BLOCK_TAGS),
  identifierHint(BLOCK_TAGS),
);

const decimalIndex = decimalHint("Validator indices");
/** Longer hex is a public key rather than an index. */
const MAX_HEX_INDEX_LENGTH = "0xffffff".length;

/** Suggests the decimal form for short hex. Other hex is a public key of the wrong length. */
export const validatorHint: Hint = (value) => {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]+$/.test(value)) return undefined;
  const key = `A public key has 0x and 96 hex digits, not ${value.length - 2}.`;
  return value.length > MAX_HEX_INDEX_LENGTH ? key : `${decimalIndex(value)} ${key}`;
};

/** Parses 96 digits as a key even if all of them are decimal, because no index is that long. */
export const validatorId = paramSchema<ValidatorId>(
  "a validator id: a validator index, or a public key of 96 hex digits with or without 0x",
  identifierForm(PUBKEY_PATTERN),
  (value) => parsePubkey(value) ?? parseUint64(value),
  validatorHint,
);

/** Id of a validator within the registry limit. Other validators never have duties. */
const dutyValidatorId = paramSchema<ValidatorId>(
  `a validator id: a validator index below ${VALIDATOR_REGISTRY_LIMIT}, or a public key of 96 hex digits with or without ` +
    "0x before them",
  identifierForm(PUBKEY_PATTERN),
  (value) => parsePubkey(value) ?? parseIndex(value),
  validatorHint,
);

function parseIndex(value: unknown): number | undefined {
  const integer = parseInteger(value, BigInt(VALIDATOR_REGISTRY_LIMIT) - 1n);
  return integer === undefined ? undefined : Number(integer);
}

/** Validators for duties, by index or public key. */
export const validatorIds = nonEmptyListOf(dutyValidatorId, { one: "validator id", many: "validator ids" });

export const validatorIndices = nonEmptyListOf(uint64, { one: "validator index", many: "validator indices" });

/** Status groups in the Beacon API, which are valid only in filters. */
export const STATUS_GROUPS = ["pending", "active", "exited", "withdrawal"] as const;

export const validatorStatus = stringEnum([...VALIDATOR_STATUSES, ...STATUS_GROUPS]);
