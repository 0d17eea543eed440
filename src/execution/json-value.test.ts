import { describe, expect, it } from "vitest";
import { JsonValue, toData, toQuantity } from "./json-value.ts";

const value = (json: unknown) => new JsonValue(json, "payload.field");

describe("JsonValue", () => {
  it("decodes valid values", () => {
    expect(value("0x00fFa1").bytes(3)).toEqual(Uint8Array.of(0, 255, 161));
    expect(value("0x").byteList()).toEqual(new Uint8Array());
    expect([value("0x0").number(), value("0x1F").number()]).toEqual([0, 31]);
    expect(value(`0x${"f".repeat(64)}`).bigint(256)).toBe(2n ** 256n - 1n);
    expect(
      value({ a: [{ b: "x" }] })
        .member("a")
        .list()[0]
        ?.member("b")
        .text(),
    ).toBe("x");
    expect([value(null).isAbsent, value({}).member("a").isAbsent, value(0).isAbsent]).toEqual([true, true, false]);
  });

  it.each<[string, (json: JsonValue) => unknown, unknown, string]>([
    ["a number", (json) => json.number(), 7, "must be a quantity of at most 64 bits such as 0x1f, got 7"],
    ["leading zeros", (json) => json.number(), "0x07", 'got "0x07"'],
    ["no digits", (json) => json.number(), "0x", 'got "0x"'],
    ["a number without 0x", (json) => json.bigint(64), "12", 'got "12"'],
    ["too many bits", (json) => json.bigint(64), `0x1${"0".repeat(16)}`, "at most 64 bits"],
    ["what a number cannot hold", (json) => json.number(), "0x20000000000000", "must be a quantity below 2^53"],
    ["half a byte", (json) => json.byteList(), "0x123", "must be 0x and two hexadecimal digits per byte"],
    ["another digit", (json) => json.byteList(), "0x12g4", 'got "0x12g4"'],
    ["bytes without 0x", (json) => json.byteList(), "1234", 'got "1234"'],
    ["the wrong length", (json) => json.bytes(2), "0x123456", "must be 0x and 4 hexadecimal digits"],
    ["too many bytes", (json) => json.byteList(2), "0x123456", "of at most 2 bytes"],
    ["no object", (json) => json.member("a"), ["b"], 'must be an object, got ["b"]'],
    ["no list", (json) => json.list(), {}, "must be a list, got {}"],
    ["no text", (json) => json.text(), 1, "must be a string, got 1"],
    ["another choice", (json) => json.oneOf(["A", "B"]), "C", 'must be one of A, B, got "C"'],
    ["nothing", (json) => json.text(), undefined, "is missing"],
  ])("rejects %s", (_, read, json, complaint) => {
    expect(() => read(value(json))).toThrow(/^payload\.field (must be|is missing)/);
    expect(() => read(value(json))).toThrow(complaint);
  });

  it("reports the path of a value", () => {
    const json = new JsonValue({ withdrawals: [{ index: "0x1" }, { index: 2 }] }, "payload");
    expect(() =>
      json
        .member("withdrawals")
        .list()
        .map((item) => item.member("index").number()),
    ).toThrow("payload.withdrawals[1].index must be");
  });
});

it("encodes bytes and quantities", () => {
  expect(toData(new Uint8Array([9, 0, 255, 9]).subarray(1, 3))).toBe("0x00ff");
  expect([toQuantity(0), toQuantity(31), toQuantity(2n ** 64n)]).toEqual(["0x0", "0x1f", "0x10000000000000000"]);
});
