import { describe, expect, it } from "vitest";
import { sszPieces } from "./pieces.ts";
import { sampleStates, treeOf } from "./sample-states.test-support.ts";
import { serializedLength } from "./tree.ts";

describe("sszPieces", () => {
  it.each(sampleStates())("serializes a state as its type does: $fork", ({ type, value }) => {
    const node = treeOf(type, value);
    const pieces = [...sszPieces(type, node)];
    expect(Buffer.concat(pieces).equals(type.serialize(value))).toBe(true);
    expect(serializedLength(type, node)).toBe(type.serialize(value).length);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(256 * 1024);
  });
});
