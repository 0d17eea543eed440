import { describe, expect, it } from "vitest";
import { compare } from "./compare-answers.ts";

const answersOf = (values: Record<string, unknown>) =>
  Object.entries(values).map(([upstream, value]) => ({ upstream, value }));

describe("answers to one request", () => {
  it("are the same whatever the order of their members", () => {
    expect(
      compare("GET /x", answersOf({ a: { one: "1", two: [{ three: 3 }] }, b: { two: [{ three: 3 }], one: "1" } })),
    ).toEqual([]);
    expect(compare("GET /x", answersOf({ a: 1 }))).toEqual([]);
    expect(compare("GET /x", [])).toEqual([]);
  });

  it("are compared with the majority, with path and both values", () => {
    const answers = answersOf({
      liar: { root: "0x02", slot: "1" },
      a: { root: "0x01", slot: "1" },
      b: { slot: "1", root: "0x01" },
    });
    expect(compare("GET /x", answers)).toEqual([
      {
        request: "GET /x",
        path: "data.root",
        said: [
          { upstreams: ["a", "b"], value: '"0x01"' },
          { upstreams: ["liar"], value: '"0x02"' },
        ],
      },
    ]);
  });

  it("differ by missing members and elements", () => {
    const [inList, inObject] = compare("GET /x", answersOf({ a: { list: [1, 2], extra: null }, b: { list: [1] } }));
    expect(inList).toMatchObject({ path: "data.list[1]", said: [{ value: "2" }, { value: "nothing" }] });
    expect(inObject).toMatchObject({ path: "data.extra", said: [{ value: "null" }, { value: "nothing" }] });
  });

  it("are reported with few differences and truncated values", () => {
    const hex = (digit: string) => `0x${digit.repeat(200)}`;
    const found = compare(
      "GET /x",
      answersOf({ a: ["1", "2", "3", "4", hex("a")], b: ["5", "6", "7", "8", hex("b")] }),
    );
    expect(found.map(({ path }) => path)).toEqual(["data[0]", "data[1]", "data[2]"]);
    const [long] = compare("GET /x", answersOf({ a: hex("a"), b: hex("b") }));
    expect(long!.said[0]!.value).toMatch(/^"0xa+…a+"$/);
    expect(long!.said[0]!.value).toHaveLength(70);
  });

  it("may have different constants, but not different values", () => {
    const specs = answersOf({ a: { SLOTS_PER_EPOCH: "8", OURS: "1" }, b: { SLOTS_PER_EPOCH: "8", THEIRS: "2" } });
    expect(compare("GET /spec", specs, { onlyShared: true })).toEqual([]);
    const others = answersOf({ a: { SLOTS_PER_EPOCH: "8" }, b: { SLOTS_PER_EPOCH: "32" } });
    expect(compare("GET /spec", others, { onlyShared: true })).toMatchObject([{ path: "data.SLOTS_PER_EPOCH" }]);
  });
});
