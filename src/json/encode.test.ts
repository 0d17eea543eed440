import { describe, expect, it } from "vitest";
import { countTurns } from "../event-loop.test-support.ts";
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

it("gives long arrays in several chunks, and makes only one of all of them in a turn of the event loop", async () => {
  const slices = Array.from({ length: 300 }, (_, index) => [String(index).repeat(500)]);
  const turn = countTurns();
  const turns: number[] = [];
  const texts = await Promise.all(
    [1, 2].map(async () => {
      let text = "";
      for await (const chunk of streamPieces(arrayPieces(slices))) {
        turns.push(turn());
        text += String(chunk);
      }
      return text;
    }),
  );
  expect(turns.length).toBeGreaterThan(4);
  expect(new Set(turns).size).toBe(turns.length);
  for (const text of texts) expect(JSON.parse(text)).toEqual(slices.flat());
});
