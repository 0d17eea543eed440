import type { z } from "zod";
import { invalidParams } from "../../failure.ts";
import { arrayOf } from "../params/arrays.ts";
import { executionAddress, parseFixedHex, root } from "../params/bytes.ts";
import { blockId, stateId, validatorId } from "../params/identifiers.ts";
import { epoch, slot, uint64 } from "../params/integers.ts";
import { firstMessage, paramSchema } from "../params/schema.ts";
import { validatorStatus } from "../params/validator-status.ts";
import { word } from "../params/word.ts";

/** As many as the JSON-RPC methods take. */
const MOST_IDS = 16_384;

const text = paramSchema("text", { type: "string" }, (value) => (typeof value === "string" ? value : undefined));
const flag = paramSchema("true or false", { type: "string" }, (value) =>
  value === "true" ? true : value === "false" ? false : undefined,
);

/** Set by being there, or by saying so. */
const presence = paramSchema("true or false, or stand there without a value", { type: "string" }, (value) =>
  value === "" || value === "true" ? true : value === "false" ? false : undefined,
);

/** A final status: one below 200 would only announce another. */
const finalStatus = paramSchema("an HTTP status code from 200 to 599", { type: "integer" }, (value) =>
  typeof value === "string" && /^[2-5]\d\d$/.test(value) ? Number(value) : undefined,
);

const signatureHex = paramSchema("a BLS signature: 0x followed by 192 hex digits", { type: "string" }, (value) =>
  parseFixedHex(value, 96),
);

const graffitiHex = paramSchema("graffiti: 0x followed by at most 64 hex digits", { type: "string" }, (value) =>
  typeof value === "string" && /^0x(?:[0-9a-fA-F]{2}){0,32}$/.test(value) ? value : undefined,
);

/** What the parameters of paths and queries look like, by the names that the standard gives them. */
const FORMS: Record<string, z.ZodType> = {
  state_id: stateId,
  block_id: blockId,
  validator_id: validatorId,
  id: arrayOf(validatorId, { noun: "validator ids", maxItems: MOST_IDS }),
  status: arrayOf(validatorStatus, { noun: "statuses" }),
  state: arrayOf(word(["disconnected", "connecting", "connected", "disconnecting"]), { noun: "states" }),
  direction: arrayOf(word(["inbound", "outbound"]), { noun: "directions" }),
  epoch,
  slot,
  block_root: root,
  parent_root: root,
  beacon_block_root: root,
  attestation_data_root: root,
  versioned_hashes: arrayOf(root, { noun: "versioned hashes" }),
  randao_reveal: signatureHex,
  graffiti: graffitiHex,
  fee_recipient: executionAddress,
  skip_randao_verification: presence,
  builder_boost_factor: uint64,
  syncing_status: finalStatus,
  broadcast_validation: word(["gossip", "consensus", "consensus_and_equivocation"]),
};

/** The part of a JSON schema by which a route definition describes a parameter. */
export interface ParamType {
  type?: string;
  items?: ParamType;
}

/** Reads a parameter that came as text, or as a list of texts. */
export function readParam(name: string, type: ParamType, given: string | string[]): unknown {
  return read(FORMS[name] ?? formOf(type), given, `The parameter "${name}"`);
}

export function read(form: z.ZodType, given: unknown, subject: string): unknown {
  const parsed = form.safeParse(given);
  if (!parsed.success) throw invalidParams(`${subject} ${firstMessage(parsed.error)}`);
  return parsed.data;
}

function formOf({ type, items }: ParamType): z.ZodType {
  switch (type) {
    case "integer":
      return uint64;
    case "boolean":
      return flag;
    case "array":
      return arrayOf(formOf(items ?? {}) as z.ZodType<string | number>, { noun: "values" });
    default:
      return text;
  }
}

/** Validators in a body. */
export const idList = FORMS.id!;
export const statusList = FORMS.status!;
export const indexList = arrayOf(uint64, { noun: "validator indices" });
