import { describe, expect, it } from "vitest";
import { encodeJson } from "./encode.ts";

describe("encodeJson", () => {
  it.each([
    [null, "null"],
    [true, "true"],
    [200, "200"],
    ["é\n", '"é\\n"'],
    [{ a: ["1"], b: undefined }, '{"a":["1"]}'],
  ])("writes %j", (value, text) => {
    expect(encodeJson(value).toString("utf8")).toBe(text);
  });

  it("rejects values without JSON", () => {
    expect(() => encodeJson(undefined)).toThrow("has no JSON form");
  });
});
