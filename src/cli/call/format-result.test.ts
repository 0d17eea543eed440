import { describe, expect, it } from "vitest";
import { parseMessage } from "../../json/parse.ts";
import { formatLines } from "./format-result.ts";

const lines = (value: unknown, shortenHex = false) => [...formatLines(value, { shortenHex })];

describe("readable output", () => {
  it("prints scalars unchanged", () => {
    expect(lines("head")).toEqual(["head"]);
    expect(lines(200)).toEqual(["200"]);
    expect(lines(null)).toEqual(["null"]);
    expect(lines("")).toEqual(['""']);
    expect(lines([])).toEqual(["[]"]);
    expect(lines({})).toEqual(["{}"]);
    expect(lines(parseMessage(Buffer.from("18446744073709551615")))).toEqual(["18446744073709551615"]);
  });

  it("aligns the members of an object and indents nested ones", () => {
    expect(lines({ slot: "1", body: { root: "0x12", items: [] }, signature: "0x34" })).toEqual([
      "slot       1",
      "body",
      "  root   0x12",
      "  items  []",
      "signature  0x34",
    ]);
  });

  it("prints flat objects as a table, with gaps for missing members", () => {
    expect(lines([{ index: "7", slot: "1234" }, { index: "12", slot: "5", note: "late" }, { slot: "6" }])).toEqual([
      "index  slot  note",
      "7      1234",
      "12     5     late",
      "       6",
    ]);
  });

  it("prints short lists on one line, long ones with one item per line", () => {
    expect(lines([{ index: "0", validators: ["6", "3"] }])).toEqual(["index  validators", "0      [6, 3]"]);
    const roots = [`0x${"ab".repeat(32)}`, `0x${"cd".repeat(32)}`];
    expect(lines(roots)).toEqual([`- ${roots[0]}`, `- ${roots[1]}`]);
  });

  it("marks the items of other lists", () => {
    expect(lines([{ root: "0x1", header: { slot: "5" } }, ["a", ["b"]], "c"])).toEqual([
      "- root  0x1",
      "  header",
      "    slot  5",
      "- - a",
      "  - [b]",
      "- c",
    ]);
  });

  it("shortens long hex only if requested", () => {
    const root = `0x${"0123456789abcdef".repeat(4)}`;
    expect(lines({ root, short: "0x0000fa4a" }, true)).toEqual(["root   0x01234567…89abcdef", "short  0x0000fa4a"]);
    expect(lines({ root })).toEqual([`root  ${root}`]);
  });

  it("escapes control characters", () => {
    expect(lines("a\u001b[2Jb\nc\u202ed\u0085")).toEqual(['"a\\u001b[2Jb\\nc\\u202ed\\u0085"']);
    expect(lines({ "x\r": "y" })).toEqual(['"x\\r"  y']);
    expect(lines("grüße 🐚")).toEqual(["grüße 🐚"]);
  });

  it("accepts an object with very many members", () => {
    const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [index, "x"]));
    expect(lines(many)).toHaveLength(300_000);
  });
});
