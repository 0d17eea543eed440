import { z } from "zod";
import { describeGiven } from "./given.ts";
import { firstMessage, type ParamSchema, refuse } from "./schema.ts";

export interface ArrayRules {
  /** What the elements are, in the plural. */
  noun: string;
  minItems?: number;
  maxItems?: number;
}

/**
 * The array-valued query parameters of REST: a JSON array without repeated elements. A bare string counts as an array
 * with that one element.
 */
export function arrayOf<T extends string | number>(element: ParamSchema<T>, rules: ArrayRules): ParamSchema<T[]> {
  const { noun, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = rules;
  const { $schema: _dialect, ...items } = z.toJSONSchema(element, { io: "input" });
  return z
    .unknown()
    .meta({ type: "array", items, uniqueItems: true })
    .transform((value, context) => {
      const given = typeof value === "string" ? [value] : value;
      if (!Array.isArray(given)) {
        return refuse(context, value, `must be an array of ${noun}, but ${describeGiven(value)} was given.`);
      }
      if (given.length < minItems || given.length > maxItems) {
        const limit = given.length < minItems ? `at least ${minItems}` : `at most ${maxItems}`;
        return refuse(context, value, `must hold ${limit} ${noun}, but it holds ${given.length}.`);
      }
      const elements = new Set<T>();
      for (const [position, item] of given.entries()) {
        const parsed = element.safeParse(item);
        if (!parsed.success) {
          return refuse(
            context,
            value,
            `has a wrong element at position ${position}: it ${firstMessage(parsed.error)}`,
          );
        }
        if (elements.has(parsed.data)) {
          const repeated = `holds ${describeGiven(item)} more than once; each of its ${noun} may stand there once.`;
          return refuse(context, value, repeated);
        }
        elements.add(parsed.data);
      }
      return [...elements];
    });
}
