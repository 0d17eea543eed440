import { fromHex, toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { IrregularNumber } from "../../json/parse.ts";
import { hexDump } from "../methods/dev/dumps.ts";
import { blockId, stateId, validatorId, validatorIds } from "./identifiers.ts";
import { numberOrQuantityUpTo, quantityUpTo } from "./quantities.ts";
import {
  boolean,
  epoch,
  graffiti,
  numberBetween,
  root,
  signature,
  slot,
  statusCode,
  text,
  uint64,
  uniqueArrayOf,
} from "./scalars.ts";
import { firstMessage, type ParamSchema } from "./schema.ts";

const FAR_FUTURE = "18446744073709551615";
const UPPER_ROOT = `0x${"AB".repeat(32)}`;
const LOWER_ROOT = UPPER_ROOT.replace(/AB/g, "ab");
const KEY = `0x${"0c".repeat(48)}`;
const speed = numberBetween(0, 10, "a number from 0 to 10");
const blocks = quantityUpTo(1000, "a number of blocks from 0 to 1000");
const interval = numberOrQuantityUpTo(1000, "a number of seconds from 0 to 1000");
const padded = (hex: string) => fromHex(`0x${hex.padEnd(64, "0")}`);

const good: [string, ParamSchema<unknown>, unknown, unknown][] = [
  ["uint64", uint64, "0", 0],
  ["uint64", uint64, 0, 0],
  ["uint64", uint64, "12", 12],
  ["uint64", uint64, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ["uint64", uint64, "9007199254740991", Number.MAX_SAFE_INTEGER],
  ["slot", slot, "7", 7],
  ["epoch", epoch, 7, 7],
  ["numberBetween", speed, new IrregularNumber("0.5"), 0.5],
  ["numberBetween", speed, 0, 0],
  ["numberOrQuantityUpTo", interval, "0x0A", 10],
  ["numberOrQuantityUpTo", interval, new IrregularNumber("0.5"), 0.5],
  ["quantityUpTo", blocks, "0x0A", 10],
  ["quantityUpTo", blocks, "10", 10],
  ["quantityUpTo", blocks, 10, 10],
  ["statusCode", statusCode, 100, 100],
  ["statusCode", statusCode, "599", 599],
  ["boolean", boolean, false, false],
  ["root", root, UPPER_ROOT, LOWER_ROOT],
  ["signature", signature, `0x${"01".repeat(96)}`, new Uint8Array(96).fill(1)],
  ["graffiti", graffiti, "fanal", padded(Buffer.from("fanal").toString("hex"))],
  ["graffiti", graffiti, "", padded("")],
  ["graffiti", graffiti, "0x", padded("")],
  ["graffiti", graffiti, "0xABcd", padded("abcd")],
  ["graffiti", graffiti, "0Xabc", padded(Buffer.from("0Xabc").toString("hex"))],
  ["graffiti", graffiti, "é".repeat(16), padded("c3a9".repeat(16))],
  ["graffiti", graffiti, "🗼".repeat(8), padded("f09f97bc".repeat(8))],
  ["graffiti", graffiti, `0x${"ff".repeat(32)}`, padded("ff".repeat(32))],
  ["stateId", stateId, "head", "head"],
  ["stateId", stateId, "justified", "justified"],
  ["stateId", stateId, "5", 5],
  ["stateId", stateId, 5, 5],
  ["stateId", stateId, UPPER_ROOT, LOWER_ROOT],
  ["blockId", blockId, "finalized", "finalized"],
  ["blockId", blockId, LOWER_ROOT, LOWER_ROOT],
  ["validatorId", validatorId, "3", 3],
  ["validatorId", validatorId, 3, 3],
  ["validatorId", validatorId, KEY.slice(2), KEY],
  ["validatorId", validatorId, "1".repeat(96), `0x${"1".repeat(96)}`],
  ["text", text("a log specification"), "DEBUG", "DEBUG"],
  ["uniqueArrayOf", uniqueArrayOf(validatorId, { noun: "validator ids" }), [], []],
  ["uniqueArrayOf", uniqueArrayOf(validatorId, { noun: "validator ids" }), ["1", 2, KEY], [1, 2, KEY]],
  ["uniqueArrayOf", uniqueArrayOf(validatorId, { noun: "validator ids" }), "1", [1]],
  ["validatorIds", validatorIds, [1, String(2 ** 40 - 1), KEY, 1], [1, 2 ** 40 - 1, KEY, 1]],
];

describe("valid parameters", () => {
  it("are parsed", () => {
    for (const [name, schema, input, expected] of good) {
      expect(schema.parse(input), `${name}: ${JSON.stringify(input)}`).toEqual(expected);
    }
  });
});

describe("integers above 2^53-1", () => {
  it.each<[string, ParamSchema<unknown>, string]>([
    ["uint64", uint64, FAR_FUTURE],
    ["slot", slot, "9007199254740992"],
    // With the minimal preset, an epoch has 8 slots.
    ["epoch", epoch, ((2n ** 64n - 1n) / 8n).toString()],
    ["stateId", stateId, FAR_FUTURE],
    ["blockId", blockId, FAR_FUTURE],
    ["validatorId", validatorId, FAR_FUTURE],
  ])("are infinite and keep their string: %s", (_name, schema, input) => {
    const value = schema.parse(input) as number;
    expect(value > Number.MAX_SAFE_INTEGER && value + 1 === Number.POSITIVE_INFINITY).toBe(true);
    expect(`${value}`).toBe(input);
  });

  it("are distinct in lists", () => {
    const ids = uniqueArrayOf(validatorId, { noun: "validator ids" });
    expect(ids.parse([FAR_FUTURE, "18446744073709551614"]).map(String)).toEqual([FAR_FUTURE, "18446744073709551614"]);
    expect(ids.safeParse([FAR_FUTURE, FAR_FUTURE]).success).toBe(false);
  });
});

const bad: [string, ParamSchema<unknown>, unknown[]][] = [
  ["uint64", uint64, ["", "-1", -1, 1.5, "1.0", "01", "1e3", "+1", " 1", "0x1", "18446744073709551616", 2 ** 53]],
  ["uint64", uint64, [null, true, [], {}, "9".repeat(1000), new IrregularNumber("1e2"), { source: "1" }]],
  ["slot", slot, ["head", new IrregularNumber("9007199254740993")]],
  ["epoch", epoch, [((2n ** 64n - 1n) / 8n + 1n).toString(), FAR_FUTURE]],
  ["numberBetween", speed, [-1, 10.5, "2", null, new IrregularNumber("1e1000"), new IrregularNumber("-0.5")]],
  ["numberOrQuantityUpTo", interval, ["0x", "0x3e9", "2", 1001, -0.5, null]],
  ["quantityUpTo", blocks, ["0x", "0x3e9", "0xzz", "0X1", "a", 1001, -1, null, `0x${"0".repeat(17)}`]],
  ["statusCode", statusCode, [99, 600, "abc", true]],
  ["boolean", boolean, ["true", 1, null]],
  ["root", root, ["0x", LOWER_ROOT.slice(2), `${LOWER_ROOT}00`, `0x${"zz".repeat(32)}`, 5, `0X${"ab".repeat(32)}`]],
  ["signature", signature, ["01".repeat(96), `0x${"01".repeat(95)}`]],
  ["graffiti", graffiti, ["a".repeat(33), "é".repeat(17), "0xabc", "0xzz", `0x${"00".repeat(33)}`, 5, null]],
  ["stateId", stateId, ["Head", "tail", "", "-1", 1.5, "0x12", null, {}, ["head"]]],
  ["blockId", blockId, ["justified", { message: {} }, "HEAD"]],
  ["validatorId", validatorId, ["0x01", "-1", "abc", KEY.slice(0, 20)]],
  ["text", text("a log specification"), [5, null, ["INFO"]]],
  [
    "uniqueArrayOf",
    uniqueArrayOf(validatorId, { noun: "validator ids", minItems: 1, maxItems: 2 }),
    [[], [1, 2, 3], 5, {}],
  ],
  ["uniqueArrayOf", uniqueArrayOf(validatorId, { noun: "validator ids" }), [["1", 1], ["x"], [null], "x", ""]],
  ["uniqueArrayOf", uniqueArrayOf(validatorId, { noun: "validator ids", isBody: true }), ["1", KEY, null, {}]],
  ["validatorIds", validatorIds, ["1", KEY, [], [FAR_FUTURE], [2 ** 40]]],
];

describe("hex dump", () => {
  it("is validated at any length", () => {
    const long = `0x${"ab".repeat(2 ** 23)}`;
    expect(hexDump.parse(long)).toBe(long);
    for (const wrong of [`${long}a`, `${long}zz`, "0x", "ab", 5]) expect(hexDump.safeParse(wrong).success).toBe(false);
  });
});

describe("invalid parameters", () => {
  it.each(bad)("are rejected: %s %#", (_name, schema, values) => {
    for (const value of values) {
      const { success, error } = schema.safeParse(value);
      expect(success, JSON.stringify(value)).toBe(false);
      expect(firstMessage(error as z.ZodError)).toMatch(/^(must be|must contain|has|contains) .+[.?]$/);
    }
  });
});

describe("messages", () => {
  const messageOf = (schema: ParamSchema<unknown>, value: unknown) =>
    firstMessage(schema.safeParse(value).error as z.ZodError);

  it.each([
    ["abc", 'but "abc" was given.'],
    [new IrregularNumber("1.5"), "but the number 1.5 was given."],
    [-1, "but the number -1 was given."],
    [null, "but null was given."],
    [[], "but an array was given."],
    [{}, "but an object was given."],
    ["y".repeat(5000), `but "${"y".repeat(40)}…" was given.`],
  ])("show the received value and what is expected", (value, ending) => {
    const message = messageOf(slot, value);
    expect(message.startsWith("must be a slot: an integer from 0 to 2^64-1")).toBe(true);
    expect(message.endsWith(ending)).toBe(true);
  });

  it("suggest a string for a number that JSON cannot represent exactly, if it would be valid", () => {
    const number = new IrregularNumber(FAR_FUTURE);
    const ending = `but the number ${FAR_FUTURE} was given. Write it as a string: "${FAR_FUTURE}".`;
    const ids = uniqueArrayOf(stateId, { noun: "state ids" });
    for (const schema of [slot, stateId, blockId, validatorId]) expect(messageOf(schema, number)).toContain(ending);
    expect(messageOf(ids, [number])).toContain(ending);
    expect(messageOf(root, number)).toMatch(/but the number 18446744073709551615 was given\.$/);
  });

  it.each<[ParamSchema<unknown>, unknown, string | undefined]>([
    [stateId, "0x30", "Slots are decimal; did you mean 48?"],
    [stateId, "latest", 'Did you mean "head"?'],
    [stateId, "HEAD", 'Did you mean "head"?'],
    [stateId, "safe", 'Did you mean "justified"?'],
    [stateId, "finalised", 'Did you mean "finalized"?'],
    [stateId, "ab".repeat(32), "Roots start with 0x."],
    [stateId, "constructor", undefined],
    [blockId, "safe", undefined],
    [blockId, "earliest", 'Did you mean "genesis"?'],
    [
      validatorId,
      "0x1f",
      "Validator indices are decimal; did you mean 31? A public key has 0x and 96 hex digits, not 2.",
    ],
    [validatorId, `0x${"ab".repeat(47)}a`, "A public key has 0x and 96 hex digits, not 95."],
    [validatorId, "01", undefined],
    [epoch, "0x10", "Epochs are decimal; did you mean 16?"],
    [root, "ab".repeat(32), "Roots start with 0x."],
    [root, "ab".repeat(33), undefined],
  ])("suggest what was meant (%#)", (schema, value, hint) => {
    const ending = hint === undefined ? "was given." : `was given. ${hint}`;
    expect(messageOf(schema, value).endsWith(ending)).toBe(true);
  });

  it("include the position of an invalid element", () => {
    const ids = uniqueArrayOf(validatorId, { noun: "validator ids" });
    expect(messageOf(ids, [1, "x"])).toContain("has an invalid element at position 1: it must be a validator id");
    expect(messageOf(ids, [1, "1"])).toContain('contains "1" more than once');
  });
});

describe("JSON schemas", () => {
  it("are derived from the parameter schemas", () => {
    expect(z.toJSONSchema(root, { io: "input" })).toMatchObject({ type: "string", pattern: "^0x[0-9a-fA-F]{64}$" });
    const ids = uniqueArrayOf(stateId, { noun: "state ids" });
    expect(z.toJSONSchema(ids, { io: "input" })).toMatchObject({ type: "array", items: { anyOf: expect.any(Array) } });
  });

  it("accept the same values as the parsers", () => {
    const form = z.toJSONSchema(stateId, { io: "input" }) as unknown as { anyOf: [{ pattern: string }] };
    const pattern = new RegExp(form.anyOf[0].pattern);
    for (const id of ["head", "justified", "0", "17", UPPER_ROOT]) expect(pattern.test(id), id).toBe(true);
    for (const id of ["tail", "01", "-1", toHex(new Uint8Array(31)), ""]) expect(pattern.test(id), id).toBe(false);
  });
});
