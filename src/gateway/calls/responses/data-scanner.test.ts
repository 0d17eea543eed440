import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UpstreamError } from "../../upstream/upstream-call.ts";
import { findData, streamData } from "./data-scanner.ts";

const SPACES = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** Strings with characters that are hard to scan. */
const text = fc.string({
  unit: fc.constantFrom("a", '"', "\\", "{", "}", "[", "]", ",", ":", " ", "é", "𝄞", "\u0000"),
  maxLength: 12,
});
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).filter((value) => value !== null);
const value = fc.oneof(json, text, fc.array(text), fc.dictionary(text, text));
const scalar = fc.oneof(text, fc.boolean(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const beside = fc.dictionary(
  text.filter((name) => name !== "data" && name !== "__proto__"),
  fc.oneof(scalar, fc.record({ count: fc.integer() }), fc.array(scalar, { maxLength: 3 })),
  { maxKeys: 4 },
);

interface Body {
  text: string;
  data: unknown;
  meta: Record<string, unknown>;
}

/** JSON has no -0. */
const asJson = (meta: object) => JSON.parse(JSON.stringify(meta));

/** Bodies that a node could send, with members in any order and any white space. */
const body: fc.Arbitrary<Body> = fc
  .record({ before: beside, data: value, after: beside, space: fc.array(SPACES, { minLength: 6, maxLength: 6 }) })
  .map(({ before, data, after: trailing, space: [a, b, c, d, e, f] }) => {
    const after = Object.fromEntries(Object.entries(trailing).filter(([name]) => !(name in before)));
    const member = ([name, each]: [string, unknown]) => `${JSON.stringify(name)}${a}:${b}${JSON.stringify(each)}${c}`;
    const members = [...Object.entries(before), ["data", data] as [string, unknown], ...Object.entries(after)];
    return {
      text: `${d}{${e}${members.map(member).join(`,${f}`)}}${d}`,
      data,
      meta: asJson({ ...before, ...after }),
    };
  });

async function* chunksOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const cut of cuts) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

async function read(source: AsyncIterable<Buffer>): Promise<{ text: string; meta: unknown }> {
  const { data, meta } = await streamData(source, "some");
  const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(await Array.fromAsync(data));
  return { text: String(bytes), meta };
}

describe("data is found", () => {
  it("in whole bodies", () => {
    fc.assert(
      fc.property(body, ({ text: full, data, meta }) => {
        const found = findData(Buffer.from(full), "some");
        expect(String(found.data)).toBe(JSON.stringify(data));
        expect(found.meta).toEqual(meta);
      }),
    );
  });

  it("at any chunk boundary", async () => {
    await fc.assert(
      fc.asyncProperty(body, async ({ text: full, data, meta }) => {
        const bytes = Buffer.from(full);
        const expected = { text: JSON.stringify(data), meta };
        for (let cut = 0; cut <= bytes.length; cut++) expect(await read(chunksOf(bytes, [cut]))).toEqual(expected);
        const everywhere = Array.from(bytes, (_, at) => at);
        expect(await read(chunksOf(bytes, everywhere))).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it("in streams with only the end buffered", async () => {
    const items = fc.array(value, { minLength: 1, maxLength: 5 });
    const sizes = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(items, beside, sizes, fc.boolean(), async (some, meta, steps, isArray) => {
        const many = Array.from({ length: 400 }, (_, index) => [index, some]);
        const data = isArray ? many : Object.fromEntries(many.map(([index, each]) => [`member ${index}`, each]));
        const bytes = Buffer.from(JSON.stringify({ data, ...meta }));
        const cuts: number[] = [];
        let at = 0;
        for (let step = 0; at < bytes.length; step++) {
          at += steps[step % steps.length]!;
          cuts.push(at);
        }
        expect(await read(chunksOf(bytes, cuts))).toEqual({ text: JSON.stringify(data), meta: asJson(meta) });
        expect(String(findData(bytes, "some").data)).toBe(JSON.stringify(data));
      }),
      { numRuns: 30 },
    );
  });
});

describe("an invalid body is rejected with the name of its upstream", () => {
  const large = JSON.stringify({ data: Array.from({ length: 1000 }, (_, index) => ({ index })), finalized: true });
  it.each([
    ["that is empty", "", "is truncated"],
    ["that is not JSON", "<html>", "is not a JSON object"],
    ["that is an array", '[{"data":1}]', "is not a JSON object"],
    ["without data", '{"version":"fulu"}', 'has no member "data"'],
    ["with nested data only", '{"version":{"data":1}}', 'has no member "data"'],
    ["with an empty value", '{"data":}', "is truncated"],
    ["truncated within its data", '{"data":[{"a":1},{"a":2}', "is truncated"],
    ["truncated before its end", '{"data":[1,2]', "is truncated"],
    ["truncated after its data", '{"data":[1,2],"finalized":tru', "is truncated"],
    ["truncated before its data", '{"version":"fu', "is truncated"],
    ["with invalid members after its data", '{"data":[1,2],"finalized":yes}', 'has invalid JSON outside of "data"'],
    ["with duplicate data", '{"data":1,"finalized":true,"data":2}', 'has the member "data" twice'],
    [
      "with too much before its data",
      `{"before":${"[".repeat(5000)}${"]".repeat(5000)},"data":1}`,
      'has no member "data" within its first 4096 bytes',
    ],
    ["that is large and truncated", large.slice(0, -3), "is truncated"],
    ["that is large and truncated within its data", large.slice(0, 9000), "is truncated"],
  ])("%s", async (_what, text, how) => {
    const bytes = Buffer.from(text);
    const message = `The answer of upstream some ${how}.`;
    expect(() => findData(bytes, "some")).toThrow(message);
    const cuts = Array.from({ length: Math.floor(bytes.length / 3) }, (_, index) => index * 3);
    await expect(read(chunksOf(bytes, cuts))).rejects.toThrow(message);
    await expect(read(chunksOf(bytes, []))).rejects.toBeInstanceOf(UpstreamError);
  });

  it("that has too much before its data, without reading it to the end", async () => {
    let chunks = 0;
    let isOver = false;
    async function* endless() {
      try {
        for (;;) {
          chunks++;
          yield Buffer.from(chunks === 1 ? '{"before":"' : "x".repeat(4096));
        }
      } finally {
        isOver = true;
      }
    }
    await expect(read(endless())).rejects.toThrow('The answer of upstream some has no member "data" within its first');
    expect(isOver).toBe(true);
  });
});

it("ends the source when its reader stops", async () => {
  let isOver = false;
  async function* source() {
    try {
      yield Buffer.from('{"data":[');
      for (;;) yield Buffer.from(`${"1,".repeat(4096)}`);
    } finally {
      isOver = true;
    }
  }
  const { data } = await streamData(source(), "some");
  const chunks = (data as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  await chunks.next();
  await chunks.return!();
  expect(isOver).toBe(true);
  expect(await chunks.next()).toEqual({ done: true, value: undefined });
});
