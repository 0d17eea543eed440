import { expect, it } from "vitest";
import { acquireBuffer, releaseBuffer } from "./buffer-pool.ts";

it("reuses a released buffer once", () => {
  const first = acquireBuffer();
  expect(acquireBuffer().buffer).not.toBe(first.buffer);
  releaseBuffer(first.subarray(0, 10));
  releaseBuffer(first);
  const [second, third] = [acquireBuffer(), acquireBuffer()];
  expect(second.buffer).toBe(first.buffer);
  expect(second).toHaveLength(first.length);
  expect(third.buffer).not.toBe(first.buffer);
});

it("ignores buffers that are not from the pool", () => {
  const foreign = Buffer.alloc(256 * 1024);
  releaseBuffer(foreign);
  expect(acquireBuffer().buffer).not.toBe(foreign.buffer);
});
