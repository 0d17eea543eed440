import { describe, expect, it } from "vitest";
import { EnvelopeSplitter } from "./envelope-splitter.ts";

/** Splits an object that arrives in chunks of `pieceBytes` into its members. */
function split(json: string, pieceBytes: number) {
  const splitter = new EnvelopeSplitter();
  const bytes = Buffer.from(json);
  const members: Record<string, string> = {};
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    for (const piece of splitter.split(bytes.subarray(at, at + pieceBytes))) {
      members[piece.name] = (members[piece.name] ?? "") + piece.bytes.toString("latin1");
    }
  }
  const texts = Object.entries(members).map(([name, text]) => [name, Buffer.from(text, "latin1").toString().trim()]);
  return { isComplete: splitter.isComplete, members: Object.fromEntries(texts) };
}

describe("response envelope", () => {
  const result = '{"a":["}",{"b\\"":"\\\\"}],"ü":[1,2,{}]}';
  const envelope = ` {"jsonrpc":"2.0", "id" : 1 ,\n "result": ${result} , "meta":{"x":true},"n":null}\n `;

  it.each([1, 2, 3, 7, 1000])("is split when it arrives in chunks of %d bytes", (pieceBytes) => {
    expect(split(envelope, pieceBytes)).toEqual({
      isComplete: true,
      members: { jsonrpc: '"2.0"', id: "1", result, meta: '{"x":true}', n: "null" },
    });
  });

  it("is complete only with its closing brace", () => {
    for (let length = 0; length < envelope.trimEnd().length; length++) {
      expect(split(envelope.slice(0, length), 5).isComplete).toBe(false);
    }
    expect(split("{}", 1)).toEqual({ isComplete: true, members: {} });
  });

  it.each(["[1]", "<html>", '"text"', "{} {}", "{1:2}", '{"a" 1}', '{"a":1}x'])("cannot be %s", (json) => {
    expect(() => split(json, 1)).toThrow(SyntaxError);
  });
});
