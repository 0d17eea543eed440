import { invalidParams } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf, type IndexRange, type ValidatorControl, type ValidatorSelection } from "../../dev-control.ts";
import { parseNumber, parseUint64 } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { described, list, object, shape } from "../../schemas.ts";

const RANGE = /^([0-9]+)-([0-9]+)$/;

function readRange(value: unknown): IndexRange | undefined {
  const [, from, to] = (typeof value === "string" && RANGE.exec(value)) || [value, value, value];
  const first = parseUint64(from);
  const last = parseUint64(to);
  return first === undefined || last === undefined || first > last ? undefined : { first, last };
}

function readSelection(value: unknown): ValidatorSelection | undefined {
  if (value === "all") return { share: 1 };
  if (value === "none") return { share: 0 };
  const share = parseNumber(value);
  if (share !== undefined && share > 0 && share < 1) return { share };
  const ranges = (Array.isArray(value) ? value : [value]).map(readRange);
  return ranges.every((range) => range !== undefined) ? { ranges } : undefined;
}

const RANGE_FORM = {
  anyOf: [
    { type: "string", pattern: "^(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?$" },
    { type: "integer", minimum: 0 },
  ],
};

const selection = paramSchema<ValidatorSelection>(
  '"all" or "none"; the index of a validator; a range of them, such as "0-15"; a list of indices and ranges; or a fraction ' +
    "of all validators between 0 and 1, such as 0.5",
  {
    anyOf: [
      { type: "string", enum: ["all", "none"] },
      ...RANGE_FORM.anyOf,
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: "array", items: RANGE_FORM },
    ],
  },
  readSelection,
);

const presence = {
  name: "presence",
  schema: object({
    online: described(list(shape("Uint64")), "The validators that do their duties, by index."),
    offline: described(list(shape("Uint64")), "The others whose keys the chain has."),
  }),
};

function presenceOf(validators: ValidatorControl) {
  const { online, offline } = validators.presence();
  return { online: online.map(String), offline: offline.map(String) };
}

const devGetValidators = defineMethod({
  name: "dev_getValidators",
  summary: "Which of the validators whose keys the chain has are online, that is, do their duties.",
  result: presence,
  failures: ["unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control" },
  handler: (context) => presenceOf(controlOf(context).validators),
});

const devSetValidators = defineMethod({
  name: "dev_setValidators",
  summary:
    "Says which validators are online, from the next slot on and beyond a restart: those that are given and no others, or all but those.",
  params: {
    online: optional(selection, "Who is online. A fraction is spread evenly over the indices."),
    offline: optional(selection, "Who is offline, instead."),
  },
  result: presence,
  failures: ["not-found", "unsupported"],
  cost: "cheap",
  access: "dev",
  example: { stage: "control", params: ["all"] },
  async handler(context, { online, offline }) {
    const { validators } = controlOf(context);
    if (online !== undefined && offline !== undefined) {
      throw invalidParams("online and offline exclude each other: one of them says who is online, and so who is not.");
    }
    if (online !== undefined) await validators.setOnline(online);
    else if (offline !== undefined) await validators.setOffline(offline);
    else throw invalidParams('online or offline is missing: one of them says who is online, such as "all" or 0.5.');
    return presenceOf(validators);
  },
});

export const devValidatorMethods = [devGetValidators, devSetValidators] as const;
