import { z } from "zod";
import { IrregularNumber } from "../../json/parse.ts";
import { type ValidatorId, validatorId } from "./identifiers.ts";
import { arrayOf } from "./scalars.ts";
import { describeGiven, firstMessage, type ParamSchema, refuse } from "./schema.ts";

interface RegistryFilter<Status extends string> {
  ids?: ValidatorId[];
  statuses?: Status[];
}

/** What a request body says about which entries of a registry are wanted; a member may be left out or null. */
export function registryFilter<Status extends string>(
  status: ParamSchema<Status>,
): ParamSchema<RegistryFilter<Status>> {
  const ids = arrayOf(validatorId, { noun: "ids", isBody: true });
  const statuses = arrayOf(status, { noun: "statuses", isBody: true });
  return z
    .unknown()
    .meta({ type: "object", description: "Lists of ids and of statuses." })
    .transform((value, context) => {
      if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof IrregularNumber) {
        return refuse(context, value, `must be an object {ids, statuses}, but ${describeGiven(value)} was given.`);
      }
      const given = value as Record<string, unknown>;
      const filter: RegistryFilter<Status> = {};
      if (given.ids !== undefined && given.ids !== null) {
        const parsed = ids.safeParse(given.ids);
        if (!parsed.success) return refuse(context, value, `is wrong at ids: it ${firstMessage(parsed.error)}`);
        filter.ids = parsed.data;
      }
      if (given.statuses !== undefined && given.statuses !== null) {
        const parsed = statuses.safeParse(given.statuses);
        if (!parsed.success) return refuse(context, value, `is wrong at statuses: it ${firstMessage(parsed.error)}`);
        filter.statuses = parsed.data;
      }
      return filter;
    });
}
