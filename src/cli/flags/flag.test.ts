import { expect, it } from "vitest";
import { booleanFlag, type FlagsOf, valueFlag, valuesOf } from "./flag.ts";
import { wholeNumber } from "./flag-values.ts";

interface Settings {
  isOn: boolean;
  count: number | undefined;
}

const isOn = booleanFlag({ name: "on", description: "" });
const words = { name: "count", kind: "number", placeholder: "COUNT", description: "" } as const;
const count = valueFlag({ ...words, fallback: undefined, parse: wholeNumber(0) });
const TABLE = { isOn, count } satisfies FlagsOf<Settings>;

it("picks the settings of a part from all values of a command", () => {
  const settings: Settings = valuesOf(TABLE, { isOn: true, count: 2, other: "x" } as Settings);
  expect(settings).toEqual({ isOn: true, count: 2 });
});

it("compiles only with one flag per field", () => {
  // @ts-expect-error: the field count has no flag.
  const missing: FlagsOf<Settings> = { isOn };
  // @ts-expect-error: the flag other has no field.
  const needless: FlagsOf<Settings> = { ...TABLE, other: isOn };
  // @ts-expect-error: the flag of count has another type.
  const mistaken: FlagsOf<Settings> = { isOn, count: isOn };
  expect([missing, needless, mistaken].map((table) => Object.keys(table).length)).toEqual([1, 3, 2]);
});
