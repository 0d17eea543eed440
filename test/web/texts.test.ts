import { describe, expect, it } from "vitest";
import { paramsText } from "../../src/cli/call/params.ts";
import { splitWords } from "../../src/cli/console/split-words.ts";
import { parseCommandLine } from "../../src/cli/flags/command-line.ts";
import {
  asCurl,
  asFanalCall,
  asSubscription,
  asTypeScript,
  asViem,
  namedParamsOf,
  paramsOf,
  readValue,
  writeValue,
} from "../../src/web/calls.ts";
import {
  aligned,
  byteSize,
  countBits,
  counted,
  epochText,
  eth,
  ether,
  graffitiText,
  grouped,
  gwei,
  short,
  timeText,
} from "../../src/web/format.ts";
import { meaningsOf } from "../../src/web/search.ts";

const ROOT = `0x${"ab".repeat(32)}`;

describe("search terms", () => {
  it.each([
    ["12", ["#/block/12", "#/epoch/12", "#/validator/12"]],
    [" 007 ", ["#/block/7", "#/epoch/7", "#/validator/7"]],
    [ROOT.toUpperCase().replace("0X", "0x"), [`#/block/${ROOT}`, `#/state/${ROOT}`]],
    [`0x${"cd".repeat(48)}`, [`#/validator/0x${"cd".repeat(48)}`]],
    ["Finalized", ["#/block/finalized", "#/state/finalized"]],
    ["justified", ["#/state/justified"]],
    ["0x12", []],
    ["0x1", []],
    ["-1", []],
    ["<script>", []],
    ["", []],
  ])("%s", (typed, addresses) => {
    expect(meaningsOf(typed).map(({ href }) => href)).toEqual(addresses);
  });
});

describe("search terms on a known chain", () => {
  const root = (digits: string) => `0x${digits.padEnd(64, "0")}`;
  const context = {
    currentSlot: 20,
    slotsPerEpoch: 8,
    validators: 16,
    blocks: [
      { root: root("a1"), slot: 10, lane: 0 },
      { root: root("a2"), slot: 12, lane: 0 },
      { root: root("b1"), slot: 12, lane: 1 },
      { root: root("c1"), slot: 20, lane: 0 },
    ],
    keys: [
      { index: "0", pubkey: `0xa1${"0".repeat(94)}` },
      { index: "1", pubkey: `0xd1${"0".repeat(94)}` },
    ],
  };
  it.each([
    ["12", ["#/block/12", "#/epoch/2", "#/validator/12"]],
    ["3", ["#/block/3", "#/epoch/3", "#/validator/3"]],
    ["13", ["#/block/13", "#/block/12", "#/block/20", "#/epoch/2", "#/validator/13"]],
    ["99", ["#/block/20", "#/epoch/2", "#/validator/15"]],
    ["0xA1", [`#/block/${root("a1")}`, "#/validator/0"]],
    ["0xd1", ["#/validator/1"]],
    ["0xe1", []],
    [root("b1"), [`#/block/${root("b1")}`]],
  ])("%s", (typed, addresses) => {
    expect(meaningsOf(typed, context).map(({ href }) => href)).toEqual(addresses);
  });

  it("says why a result is not the one that was typed", () => {
    expect(meaningsOf("99", context).map(({ label }) => label)).toEqual([
      "Slot 20, the latest",
      "Epoch 2, the latest",
      "Validator 15, the last",
    ]);
    expect(meaningsOf("13", context)[0]!.label).toBe("Slot 13, without a block");
    expect(meaningsOf("0xb1", context)[0]!.label).toMatch(/^Block of slot 12, orphaned, 0xb1/);
  });
});

it("counts things", () => {
  expect([counted(0, "attestation"), counted("1", "attestation"), counted(2, "entry", "entries")]).toEqual([
    "0 attestations",
    "1 attestation",
    "2 entries",
  ]);
});

it("formats amounts, numbers and bytes", () => {
  expect(["0", "1", "32000000000", "32072800096", "-1500000000"].map(eth)).toEqual([
    "0 ETH",
    "0.000000001 ETH",
    "32 ETH",
    "32.072800096 ETH",
    "-1.5 ETH",
  ]);
  expect(ether("0xde0b6b3a7640001")).toBe("1.000000000000000001 ETH");
  expect(gwei("0x3b9aca00")).toBe("1 Gwei");
  expect(grouped(1_234_567)).toBe("1\u202f234\u202f567");
  expect(aligned(["32000000000", "25600000000", "0"], 9)).toEqual(["32.0", "25.6", "0.0"]);
  expect(aligned(["32000000000", "2048000000000"], 9)).toEqual(["32", "2\u202f048"]);
  expect(aligned(["32002437294"], 9, 9)).toEqual(["32.002437294"]);
  expect(timeText(1_700_000_000)).toBe("2023-11-14 22:13:20");
  expect(epochText("18446744073709551615")).toBe("never");
  expect(short(ROOT)).toBe("0xababab…abab");
  expect(graffitiText(`0x${Buffer.from("<b>fanal</b>").toString("hex").padEnd(64, "0")}`)).toBe("<b>fanal</b>");
  expect(graffitiText(`0x${"00".repeat(32)}`)).toBe("");
  expect(graffitiText(`0xff${"00".repeat(31)}`)).toBe(`0xff${"00".repeat(31)}`);
  expect(countBits("0xff01", "list")).toBe(8);
  expect(countBits("0xff01", "vector")).toBe(9);
  expect([1, 999, 1000, 9949, 123_456, 5_000_000].map(byteSize)).toEqual([
    "1 byte",
    "999 bytes",
    "1.0 kB",
    "9.9 kB",
    "123 kB",
    "5.0 MB",
  ]);
  expect([0, 1, 2].map((count) => counted(count, "attestation"))).toEqual([
    "0 attestations",
    "1 attestation",
    "2 attestations",
  ]);
});

describe("a call", () => {
  const params = [
    { name: "state_id", schema: {} },
    { name: "id", schema: {} },
    { name: "status", schema: {} },
  ];

  it("parses typed input as JSON or text, and omits empty input", () => {
    expect(paramsOf(params, { state_id: "head", status: '["active"]' })).toEqual(["head", null, ["active"]]);
    expect(paramsOf(params, { state_id: " 12 ", id: "" })).toEqual([12]);
    expect(paramsOf(params, {})).toEqual([]);
    for (const typed of ["1e400", "18446744073709551615"]) expect(readValue(typed)).toBe(typed);
    for (const value of ["head", 12, "12", null, true, "true", [1, "a"], { a: "'" }]) {
      expect(readValue(writeValue(value))).toEqual(value);
    }
  });

  it("parses typed input as text for string parameters", () => {
    const text = [{ name: "graffiti", schema: { type: "string" } }];
    for (const typed of ["123", "null", "[1]", "1e400", "it's", '"'])
      expect(paramsOf(text, { graffiti: typed })).toEqual([typed]);
    for (const value of ["123", "null", '"', '"123"'])
      expect(paramsOf(text, { graffiti: writeValue(value) })).toEqual([value]);
  });

  it("is the same for fanal call", async () => {
    const strings = [
      "-x",
      "--url",
      "-",
      "-1",
      "@foo",
      "a=b",
      "18446744073709551615",
      "12",
      "null",
      "",
      " ",
      "it's",
      "é",
      "$HOME",
    ];
    const sources = { workingDirectory: "/", readInput: () => Promise.reject(new Error("Nothing is read.")) };
    for (const values of [strings, [-1, 1.5, null, true, ["-x"], { a: "=b" }], ["head"]]) {
      const line = parseCommandLine(splitWords(asFanalCall("http://n", "m", values)).slice(1), "1");
      if (line.kind !== "run") throw new Error(line.text);
      expect(JSON.parse(await paramsText(line.operands!.slice(1), sources))).toEqual(values);
    }
  });

  it("is formatted for shells and programs, whatever its content", () => {
    const values = ["head", ["it's", "$HOME"]];
    expect(asCurl("http://n", "m", values)).toBe(
      `curl -s http://n -H 'Content-Type: application/json' \\\n  -d '{"jsonrpc":"2.0","id":1,"method":"m","params":["head",["it'\\''s","$HOME"]]}'`,
    );
    expect(asFanalCall("http://n", "m", values)).toBe(`fanal call m head '["it'\\''s","$HOME"]' --url http://n`);
    expect(asViem("http://n", "m", values)).toContain(
      'client.request({"method":"m","params":["head",["it\'s","$HOME"]]})',
    );
  });

  it("is formatted for the client with its parameters by name", () => {
    expect(namedParamsOf(params, { state_id: "head", status: '["active"]' })).toEqual({
      state_id: "head",
      status: ["active"],
    });
    const named = { id: "it's", filter: { "a-b": [1, null] } };
    const written = asTypeScript("http://n", "getThing", named, true);
    expect(written).toContain('import { createClient } from "fanal/client";');
    expect(written).toContain(`client.getThing({ id: "it's", filter: { "a-b": [1, null] } });`);
    expect(asTypeScript("http://n", "getThing", {}, true)).toContain("client.getThing();");
    expect(asTypeScript("http://n", "rpc.discover", {}, false)).toContain('client.call("rpc.discover");');
    expect(asSubscription("http://n", ["head"])).toContain('createClient({ url: "ws://n" });');
  });
});
