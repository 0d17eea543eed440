import { describe, expect, it } from "vitest";
import { sampleStates, treeOf } from "../../test/support/ssz/sample-states.ts";
import { sszChunks } from "./streaming.ts";
import { serializedLength } from "./tree.ts";

describe("sszChunks", () => {
  it.each(sampleStates())("serializes a state like its type: $fork", ({ type, value }) => {
    const node = treeOf(type, value);
    const chunks = [...sszChunks(type, node)];
    expect(Buffer.concat(chunks).equals(type.serialize(value))).toBe(true);
    expect(serializedLength(type, node)).toBe(type.serialize(value).length);
    for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(256 * 1024);
  });
});
