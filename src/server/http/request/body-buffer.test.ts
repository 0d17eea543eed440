import { describe, expect, it } from "vitest";
import { BodyBuffer } from "./body-buffer.ts";

const MIB = 1024 * 1024;

/** Returns distinct bytes in chunks that own their memory, as chunks from a socket do. */
function chunksOf(bytes: number, chunkBytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes / chunkBytes) }, (_, chunk) => {
    const start = chunk * chunkBytes;
    return Buffer.from(
      Uint8Array.from({ length: Math.min(chunkBytes, bytes - start) }, (_, at) => byteAt(start + at)).buffer,
    );
  });
}

const byteAt = (at: number) => (at * 7 + (at >> 8)) & 0xff;

async function received(chunks: readonly Buffer[], declared?: number): Promise<Buffer> {
  const body = new BodyBuffer();
  for (const chunk of chunks) {
    body.add(chunk);
    if (declared !== undefined) body.allocate(declared);
  }
  return body.complete();
}

describe.each([0, 1, 1000, MIB, MIB + 1, 3 * MIB + 5])("a body of %d bytes", (bytes) => {
  const expected = Buffer.concat(chunksOf(bytes, 50_000));

  it.each([50_000, 333_333, 2 * MIB])("is complete with chunks of %d bytes", async (chunkBytes) => {
    expect((await received(chunksOf(bytes, chunkBytes), bytes)).equals(expected)).toBe(true);
  });

  it("is complete without a declared length", async () => {
    expect((await received(chunksOf(bytes, 50_000))).equals(expected)).toBe(true);
  });
});

it("does not free memory that a chunk shares", async () => {
  const memory = Buffer.concat(chunksOf(3 * MIB, 50_000));
  const before = Buffer.from(memory);
  const chunks = [0, 1, 2].map((index) => memory.subarray(index * MIB, (index + 1) * MIB));
  expect((await received(chunks, 3 * MIB)).equals(before)).toBe(true);
  expect(memory.equals(before)).toBe(true);
});

it("returns the bytes received so far", () => {
  const body = new BodyBuffer();
  const chunks = chunksOf(2 * MIB, 50_000);
  const expected = Buffer.concat(chunks);
  for (const chunk of chunks) body.add(chunk);
  expect(body.soFar().equals(expected)).toBe(true);
  body.allocate(10 * MIB);
  expect(body.soFar().equals(expected)).toBe(true);
});

it("allocates no memory for a declared length before a first part has arrived", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const bodies = Array.from({ length: 100 }, () => {
    const body = new BodyBuffer();
    body.add(Buffer.from("{"));
    body.allocate(32 * MIB);
    return body;
  });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
  expect(await bodies[0]!.complete()).toEqual(Buffer.from("{"));
});
