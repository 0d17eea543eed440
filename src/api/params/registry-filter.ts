import { z } from "zod";
import { IrregularNumber } from "../../json/parse.ts";
import { type ValidatorId, validatorId } from "./identifiers.ts";
import { uniqueArrayOf } from "./scalars.ts";
import { addIssue, describeValue, firstMessage, formOf, type ParamSchema } from "./schema.ts";

interface RegistryFilter<Status extends string> {
  ids?: ValidatorId[];
  statuses?: Status[];
}

/** The request body `{ids, statuses}`, which filters a registry. Members may be omitted or null. */
export function registryFilter<Status extends string>(
  status: ParamSchema<Status>,
): ParamSchema<RegistryFilter<Status>> {
  const ids = uniqueArrayOf(validatorId, { noun: "ids", isBody: true });
  const statuses = uniqueArrayOf(status, { noun: "statuses", isBody: true });
  return z
    .unknown()
    .meta({
      type: "object",
      description: "Lists of ids and statuses.",
      get properties() {
        const nullable = (schema: z.ZodType) => ({ anyOf: [formOf(schema), { type: "null" }] });
        return { ids: nullable(ids), statuses: nullable(statuses) };
      },
    })
    .transform((value, context) => {
      if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof IrregularNumber) {
        return addIssue(context, value, `must be an object {ids, statuses}, but ${describeValue(value)} was given.`);
      }
      const members = value as Record<string, unknown>;
      const filter: RegistryFilter<Status> = {};
      if (members.ids !== undefined && members.ids !== null) {
        const parsed = ids.safeParse(members.ids);
        if (!parsed.success) return addIssue(context, value, `is invalid at ids: it ${firstMessage(parsed.error)}`);
        filter.ids = parsed.data;
      }
      if (members.statuses !== undefined && members.statuses !== null) {
        const parsed = statuses.safeParse(members.statuses);
        if (!parsed.success)
          return addIssue(context, value, `is invalid at statuses: it ${firstMessage(parsed.error)}`);
        filter.statuses = parsed.data;
      }
      return filter;
    });
}
