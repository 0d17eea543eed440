import { z } from "zod";
import { describeGiven } from "./given.ts";
import { uint64 } from "./integers.ts";
import { firstMessage, type ParamSchema, refuse } from "./schema.ts";

const { $schema: _dialect, ...items } = z.toJSONSchema(uint64, { io: "input" });

/** Validators by index alone: at least one, as many as a client has, and the same one twice does no harm. */
export const validatorIndices: ParamSchema<number[]> = z
  .unknown()
  .meta({ type: "array", items, minItems: 1 })
  .transform((value, context) => {
    if (!Array.isArray(value)) {
      return refuse(context, value, `must be an array of validator indices, but ${describeGiven(value)} was given.`);
    }
    if (value.length === 0) return refuse(context, value, "must hold at least one validator index.");
    const indices: number[] = [];
    for (const [position, item] of value.entries()) {
      const parsed = uint64.safeParse(item);
      if (!parsed.success) {
        return refuse(context, value, `has a wrong element at position ${position}: it ${firstMessage(parsed.error)}`);
      }
      indices.push(parsed.data);
    }
    return indices;
  });
