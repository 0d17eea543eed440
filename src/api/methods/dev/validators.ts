import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf, type ValidatorControl } from "../../dev-control.ts";
import { parseNumber, parseUint64 } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, list, object, shape } from "../../schemas.ts";
import type { IndexRange, ValidatorSelection } from "../../validator-selection.ts";
import { DEV_METHOD } from "./dev-method.ts";

const RANGE = /^([0-9]+)-([0-9]+)$/;

function parseRange(value: unknown): IndexRange | undefined {
  const [, from, to] = (typeof value === "string" && RANGE.exec(value)) || [value, value, value];
  const first = parseUint64(from);
  const last = parseUint64(to);
  return first === undefined || last === undefined || first > last ? undefined : { first, last };
}

function parseSelection(value: unknown): ValidatorSelection | undefined {
  if (value === "all") return { share: 1 };
  if (value === "none") return { share: 0 };
  const share = parseNumber(value);
  if (share !== undefined && share > 0 && share < 1) return { share };
  const ranges = (Array.isArray(value) ? value : [value]).map(parseRange);
  return ranges.every((range) => range !== undefined) ? { ranges } : undefined;
}

const RANGE_FORM = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?$" },
    { type: "integer", minimum: 0 },
  ],
};

export const selection = paramSchema<ValidatorSelection>(
  '"all" or "none"; a validator index; an index range such as "0-15"; a list of indices and ranges; or a fraction of all ' +
    "validators between 0 and 1, such as 0.5",
  {
    anyOf: [
      { type: "string", enum: ["all", "none"] },
      ...RANGE_FORM.anyOf,
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: "array", items: RANGE_FORM },
    ],
  },
  parseSelection,
);

const presence = {
  name: "presence",
  schema: object({
    online: described(list(shape("Uint64")), "Indices of the validators that perform their duties."),
    offline: described(list(shape("Uint64")), "Indices of the other validators that the chain has keys for."),
  }),
};

function presenceOf(validators: ValidatorControl) {
  const { online, offline } = validators.presence();
  return { online: online.map(String), offline: offline.map(String) };
}

const devGetValidators = defineMethod({
  ...DEV_METHOD,
  name: "dev_getValidators",
  summary: "Lists the validators that are online, that is, perform their duties, and those that are offline.",
  result: presence,
  example: { stage: "control" },
  handler: (context) => presenceOf(controlOf(context).validators),
});

const devSetValidators = defineMethod({
  ...DEV_METHOD,
  name: "dev_setValidators",
  summary:
    "Sets which validators are online from the next slot on: exactly the given ones, or all but the given ones. Persists across restarts.",
  params: {
    online: optional(selection, "Validators that are online. A fraction is spread evenly over the indices."),
    offline: optional(selection, "Validators that are offline, instead of `online`."),
  },
  result: presence,
  failures: ["not-found", "unsupported"],
  example: { stage: "control", params: ["all"] },
  async handler(context, { online, offline }) {
    const { validators } = controlOf(context);
    if (online !== undefined && offline !== undefined) {
      throw invalidParams("online and offline are mutually exclusive. Give only one of them.");
    }
    if (online !== undefined) await validators.setOnline(online);
    else if (offline !== undefined) await validators.setOffline(offline);
    else throw invalidParams('online or offline is missing. Give one of them, for example "all" or 0.5.');
    return presenceOf(validators);
  },
});

export const devValidatorMethods = [devGetValidators, devSetValidators] as const;
