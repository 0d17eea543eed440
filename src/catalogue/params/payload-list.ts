import { z } from "zod";
import { describeGiven } from "./given.ts";
import { type ForkSchema, firstMessage, refuse } from "./schema.ts";

/** A request body that is a list of objects, given as one parameter; `noun` says what they are, in the plural. */
export function payloadList<T>(noun: string, item: ForkSchema<T>): ForkSchema<T[]> {
  const form = z.unknown().meta({ type: "array", description: `A list of ${noun}.`, minItems: 1 });
  return {
    form,
    forConfig: (config) => {
      const schema = item.forConfig(config);
      return form.transform((value, context) => {
        if (!Array.isArray(value)) {
          return refuse(context, value, `must be an array of ${noun}, but ${describeGiven(value)} was given.`);
        }
        if (value.length === 0) return refuse(context, value, `must hold at least one of ${noun}, but it is empty.`);
        const payloads: T[] = [];
        for (const [position, element] of value.entries()) {
          const parsed = schema.safeParse(element);
          if (!parsed.success) {
            const message = firstMessage(parsed.error);
            return refuse(context, value, `has a wrong element at position ${position}: it ${message}`);
          }
          payloads.push(parsed.data);
        }
        return payloads;
      });
    },
  };
}
