import type { routes } from "@lodestar/api";
import { VALIDATOR_REGISTRY_LIMIT } from "@lodestar/params";
import { VALIDATOR_STATUSES } from "../../json/validator-status.ts";
import {
  listOf,
  PUBKEY_PATTERN,
  parseFixedHex,
  parseInteger,
  parsePubkey,
  parseUint64,
  uint64,
  word,
} from "./scalars.ts";
import { type JsonForm, paramSchema } from "./schema.ts";

type StateId = routes.beacon.state.StateId;
type BlockId = routes.beacon.block.BlockId;
/** An index or a public key in lower case hex. */
export type ValidatorId = routes.beacon.state.ValidatorId;

const STATE_TAGS: readonly string[] = ["head", "genesis", "finalized", "justified"];
/** `justified` is a state id only. */
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

const ROOT_PATTERN = "0x[0-9a-fA-F]{64}";

export const stateId = paramSchema<StateId>(
  'a state id: "head", "genesis", "finalized", "justified", a slot, or a state root of 0x and 64 hex digits',
  identifierForm(`${STATE_TAGS.join("|")}|${ROOT_PATTERN}`),
  (value) => parseIdentifier(value, STATE_TAGS),
);

export const blockId = paramSchema<BlockId>(
  'a block id: "head", "genesis", "finalized", a slot, or a block root of 0x and 64 hex digits',
  identifierForm(`${BLOCK_TAGS.join("|")}|${ROOT_PATTERN}`),
  (value) => parseIdentifier(value, BLOCK_TAGS),
);

/** 96 digits are a key even when all of them are decimal: no index is that long. */
export const validatorId = paramSchema<ValidatorId>(
  "a validator id: a validator index, or a public key of 96 hex digits with or without 0x before them",
  identifierForm(PUBKEY_PATTERN),
  (value) => parsePubkey(value) ?? parseUint64(value),
);

/** One that can come to have duties: no registry holds more validators than the limit. */
const dutifulId = paramSchema<ValidatorId>(
  `a validator id: a validator index below ${VALIDATOR_REGISTRY_LIMIT}, or a public key of 96 hex digits with or without ` +
    "0x before them",
  identifierForm(PUBKEY_PATTERN),
  (value) => parsePubkey(value) ?? parseIndex(value),
);

function parseIndex(value: unknown): number | undefined {
  const integer = parseInteger(value, BigInt(VALIDATOR_REGISTRY_LIMIT) - 1n);
  return integer === undefined ? undefined : Number(integer);
}

/** The validators whose duties are asked for, by index or by public key. */
export const validatorIds = listOf(dutifulId, { one: "validator id", many: "validator ids" });

export const validatorIndices = listOf(uint64, { one: "validator index", many: "validator indices" });

/** Groups of statuses are legal in filters only. */
const STATUS_GROUPS = ["pending", "active", "exited", "withdrawal"] as const;

export const validatorStatus = word([...VALIDATOR_STATUSES, ...STATUS_GROUPS]);
