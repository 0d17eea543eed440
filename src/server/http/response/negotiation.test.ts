import { describe, expect, it } from "vitest";
import { bodyFormat, chooseFormat, type Format, prefersGzip } from "./negotiation.ts";

const BOTH: Format[] = ["json", "ssz"];
const SSZ = "application/octet-stream";
const JSON_TYPE = "application/json";

describe("the response format", () => {
  it.each<[string | undefined, Format]>([
    [undefined, "json"],
    ["", "json"],
    ["*/*", "json"],
    ["application/*", "json"],
    [JSON_TYPE, "json"],
    [`${JSON_TYPE}; charset=utf-8`, "json"],
    [SSZ, "ssz"],
    ["APPLICATION/OCTET-STREAM", "ssz"],
    [`${SSZ}, ${JSON_TYPE}`, "json"],
    [`${SSZ};q=1.0,${JSON_TYPE};q=0.9`, "ssz"],
    [`${SSZ};q=0.4, ${JSON_TYPE};q=0.5`, "json"],
    [`${SSZ}, */*;q=0.1`, "ssz"],
    [`${SSZ};q=0, */*`, "json"],
    [`${JSON_TYPE};q=0, */*`, "ssz"],
    ["text/html, application/xhtml+xml, */*;q=0.8", "json"],
    [`${SSZ};q=nonsense, ${JSON_TYPE};q=0.1`, "json"],
  ])("for Accept: %s is %s", (accept, expected) => {
    expect(chooseFormat(accept, { responseFormats: BOTH })).toBe(expected);
  });

  it.each(["text/html", `${JSON_TYPE};q=0`, `${JSON_TYPE};q=2`, "nonsense", "*/*;q=0"])(
    "does not exist for Accept: %s",
    (accept) => {
      expect(() => chooseFormat(accept, { responseFormats: BOTH })).toThrow(expect.objectContaining({ status: 406 }));
    },
  );

  it("is the first acceptable one with prefersFirst", () => {
    const preferring = { responseFormats: BOTH, prefersFirst: true };
    expect(chooseFormat(`${SSZ};q=1.0,${JSON_TYPE};q=0.9`, preferring)).toBe("json");
    expect(chooseFormat(SSZ, preferring)).toBe("ssz");
    expect(chooseFormat(`${SSZ}, ${JSON_TYPE};q=0`, preferring)).toBe("ssz");
    expect(() => chooseFormat("text/html", preferring)).toThrow(expect.objectContaining({ status: 406 }));
  });

  it("is JSON if it is the only format and acceptable", () => {
    expect(chooseFormat(`${SSZ}, ${JSON_TYPE};q=0.1`, { responseFormats: ["json"] })).toBe("json");
    expect(() => chooseFormat(SSZ, { responseFormats: ["json"] })).toThrow(expect.objectContaining({ status: 406 }));
  });
});

it.each([
  [undefined, false],
  ["gzip", true],
  ["br, x-gzip;q=0.1", true],
  ["*", true],
  ["gzip;q=0, *", false],
  ["identity", false],
  ["gzip;q=0.5, identity;q=1", false],
  ["*;q=0.5, identity", false],
  ["gzip, identity", true],
  ["gzip;q=0.5, identity;q=0.1", true],
])("Accept-Encoding: %s prefers gzip: %s", (acceptEncoding, expected) => {
  expect(prefersGzip(acceptEncoding)).toBe(expected);
});

describe("the format of a request body", () => {
  it.each<[string, Format]>([
    [JSON_TYPE, "json"],
    ["Application/JSON;charset=UTF-8", "json"],
    [SSZ, "ssz"],
  ])("%s is %s", (contentType, expected) => {
    expect(bodyFormat(contentType, BOTH)).toBe(expected);
  });

  it.each([undefined, "", "text/plain", "application/x-www-form-urlencoded"])(
    "does not exist for Content-Type: %s",
    (contentType) => {
      expect(() => bodyFormat(contentType, BOTH)).toThrow(expect.objectContaining({ status: 415 }));
    },
  );

  it("is not SSZ where only JSON is read", () => {
    expect(() => bodyFormat(SSZ, ["json"])).toThrow(expect.objectContaining({ status: 415 }));
  });
});
