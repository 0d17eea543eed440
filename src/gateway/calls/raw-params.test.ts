import fc from "fast-check";
import { expect, it } from "vitest";
import { JsonParseError } from "../../json/parse.ts";
import { parseParams, RawJson } from "./raw-params.ts";

const json = fc.jsonValue({ maxDepth: 3 });
const space = fc.constantFrom("", " ", "\n\t");

it("are those of the message", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(json), fc.dictionary(fc.string(), json)),
      fc.boolean(),
      space,
      (params, isRaw, gap) => {
        const indent = gap === "" ? undefined : 2;
        const read = parseParams(Buffer.from(JSON.stringify(params, null, indent)), () => isRaw);
        const values = (Array.isArray(read) ? read : Object.values(read)) as unknown[];
        const known = values.map((value) =>
          JSON.parse(value instanceof RawJson ? String(value.bytes) : JSON.stringify(value)),
        );
        expect(known).toEqual(Object.values(params as object).map((value) => JSON.parse(JSON.stringify(value))));
        expect(Object.keys(read)).toEqual(Object.keys(params as object));
        if (!isRaw) expect(values.some((value) => value instanceof RawJson)).toBe(false);
      },
    ),
  );
});

it("stay unparsed if raw", () => {
  const params = parseParams(Buffer.from('["head",{"a": 1.50, "b":12345678901234567890}]'), (key) => key === 1);
  expect(params).toEqual(["head", new RawJson(Buffer.from('{"a": 1.50, "b":12345678901234567890}'))]);
});

it.each(["[", "{", "[}", "[1}", "[1,]", "[1 2]", '["a]', '{"a" 1}', '{"a":1]'])(
  "are rejected when they are %j",
  (text) => {
    expect(() => parseParams(Buffer.from(text), () => true)).toThrow(JsonParseError);
  },
);

it("are concatenated to one list", () => {
  const raw = (text: string) => new RawJson(Buffer.from(text));
  expect(String(RawJson.concatLists([raw('{"a":1}'), raw("[ ]"), raw('[{"a":2},{"a":3}]')]))).toBe(
    '[{"a":1},{"a":2},{"a":3}]',
  );
  expect(String(RawJson.concatLists([raw("[]")]))).toBe("[]");
});
