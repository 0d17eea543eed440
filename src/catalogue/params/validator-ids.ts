import { z } from "zod";
import { describeGiven } from "./given.ts";
import { type ValidatorId, validatorId } from "./identifiers.ts";
import { firstMessage, type ParamSchema, refuse } from "./schema.ts";

const { $schema: _dialect, ...items } = z.toJSONSchema(validatorId, { io: "input" });

/**
 * The validators whose duties are asked for: at least one, by index or by public key. There may be as many as a client
 * has, and the same one twice does no harm. A bare string counts as an array with that one element.
 */
export const validatorIds: ParamSchema<ValidatorId[]> = z
  .unknown()
  .meta({ type: "array", items, minItems: 1 })
  .transform((value, context) => {
    const given = typeof value === "string" ? [value] : value;
    if (!Array.isArray(given)) {
      return refuse(context, value, `must be an array of validator ids, but ${describeGiven(value)} was given.`);
    }
    if (given.length === 0) return refuse(context, value, "must hold at least one validator id.");
    const ids: ValidatorId[] = [];
    for (const [position, item] of given.entries()) {
      const parsed = validatorId.safeParse(item);
      if (!parsed.success) {
        return refuse(context, value, `has a wrong element at position ${position}: it ${firstMessage(parsed.error)}`);
      }
      ids.push(parsed.data);
    }
    return ids;
  });
