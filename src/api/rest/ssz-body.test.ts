import { createChainForkConfig } from "@lodestar/config";
import { expect, it } from "vitest";
import type { RequestCodec } from "../codecs.ts";
import { readSszBody } from "./ssz-body.ts";

const config = createChainForkConfig({});

/** Parses a body that the codec decodes to the given value. */
function read(value: unknown): unknown {
  const codec = { parseReqSsz: () => value } as unknown as RequestCodec;
  return readSszBody({ params: {}, headers: {}, body: Buffer.alloc(0) }, codec, { noun: "a block", config });
}

it("accepts exact integers and FAR_FUTURE_EPOCH", () => {
  const value = {
    blocks: [{ slot: Number.MAX_SAFE_INTEGER, exitEpoch: Number.POSITIVE_INFINITY, root: new Uint8Array(2) }],
  };
  expect(read(value)).toBe(value);
});

it.each([2 ** 53, 2 ** 64])("rejects the rounded integer %d", (slot) => {
  expect(() => read({ blocks: [{ slot: 1 }, { message: { slot } }] })).toThrow(
    "The body contains an integer above 2^53-1, which is not supported.",
  );
});
