import { type ParamSchema, paramSchema } from "./schema.ts";

/** One of a fixed set of words, written exactly so. */
export function word<const Word extends string>(words: readonly Word[]): ParamSchema<Word> {
  const list = words.map((each) => `"${each}"`).join(", ");
  return paramSchema(`one of ${list}`, { type: "string", enum: [...words] }, (value) =>
    words.find((each) => each === value),
  );
}
