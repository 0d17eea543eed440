import { expect, it } from "vitest";
import { giveBackBuffer, takeBuffer } from "./buffer-pool.ts";

it("gives a buffer to others once it is given back, and to one at a time", () => {
  const first = takeBuffer();
  expect(takeBuffer().buffer).not.toBe(first.buffer);
  giveBackBuffer(first.subarray(0, 10));
  giveBackBuffer(first);
  const [second, third] = [takeBuffer(), takeBuffer()];
  expect(second.buffer).toBe(first.buffer);
  expect(second).toHaveLength(first.length);
  expect(third.buffer).not.toBe(first.buffer);
});

it("takes no buffers of others", () => {
  const foreign = Buffer.alloc(256 * 1024);
  giveBackBuffer(foreign);
  expect(takeBuffer().buffer).not.toBe(foreign.buffer);
});
