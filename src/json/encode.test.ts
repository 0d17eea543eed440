import { describe, expect, it } from "vitest";
import { arrayPieces, encodeJson, streamPieces, writtenArrayPieces } from "./encode.ts";

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

  it("refuses what has no JSON form", () => {
    expect(() => encodeJson(undefined)).toThrow("has no JSON form");
  });
});

async function collect(slices: unknown[][]): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of streamPieces(arrayPieces(slices))) chunks.push(String(chunk));
  return chunks;
}

it.each([[[]], [[[]]], [[[1]]], [[[], [1, 2], [], ["a,b"], []]], [[[{ a: [] }], [null, "]"]]]])(
  "writes slices as one array: %j",
  async (slices) => {
    expect((await collect(slices)).join("")).toBe(JSON.stringify(slices.flat()));
    const written = writtenArrayPieces<unknown>(slices, (element) => JSON.stringify(element));
    expect(Array.from(written).join("")).toBe(JSON.stringify(slices.flat()));
  },
);

it("gives a long array in several chunks, with a turn of the event loop between them", async () => {
  const slices = Array.from({ length: 300 }, (_, index) => [String(index).repeat(500)]);
  let turns = 0;
  let done = false;
  const count = () => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const chunks = await collect(slices);
  done = true;
  expect(chunks.length).toBeGreaterThan(2);
  expect(turns).toBeGreaterThanOrEqual(chunks.length - 1);
  expect(JSON.parse(chunks.join(""))).toEqual(slices.flat());
});
