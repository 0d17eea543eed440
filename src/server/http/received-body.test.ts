import { describe, expect, test } from "vitest";
import { ReceivedBody } from "./received-body.ts";

const MIB = 1024 * 1024;

/** Bytes that are others at every place, in pieces that own their memory, as those of a connection do. */
function piecesOf(bytes: number, pieceBytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes / pieceBytes) }, (_, piece) => {
    const start = piece * pieceBytes;
    return Buffer.from(
      Uint8Array.from({ length: Math.min(pieceBytes, bytes - start) }, (_, at) => byteAt(start + at)).buffer,
    );
  });
}

const byteAt = (at: number) => (at * 7 + (at >> 8)) & 0xff;

async function received(pieces: readonly Buffer[], declared?: number): Promise<Buffer> {
  const body = new ReceivedBody();
  for (const piece of pieces) {
    body.add(piece);
    if (declared !== undefined) body.makeRoom(declared);
  }
  return body.whole();
}

describe.each([0, 1, 1000, MIB, MIB + 1, 3 * MIB + 5])("a body of %d bytes", (bytes) => {
  const expected = Buffer.concat(piecesOf(bytes, 50_000));

  test.each([50_000, 333_333, 2 * MIB])("is whole, of pieces of %d", async (pieceBytes) => {
    expect((await received(piecesOf(bytes, pieceBytes), bytes)).equals(expected)).toBe(true);
  });

  test("is whole when nobody knew its length", async () => {
    expect((await received(piecesOf(bytes, 50_000))).equals(expected)).toBe(true);
  });
});

test("pieces of a larger memory leave the rest of it alone", async () => {
  const memory = Buffer.concat(piecesOf(3 * MIB, 50_000));
  const before = Buffer.from(memory);
  const pieces = [0, 1, 2].map((index) => memory.subarray(index * MIB, (index + 1) * MIB));
  expect((await received(pieces, 3 * MIB)).equals(before)).toBe(true);
  expect(memory.equals(before)).toBe(true);
});

test("what has come can be seen before the end has", () => {
  const body = new ReceivedBody();
  const pieces = piecesOf(2 * MIB, 50_000);
  const expected = Buffer.concat(pieces);
  for (const piece of pieces) body.add(piece);
  expect(body.soFar().equals(expected)).toBe(true);
  body.makeRoom(10 * MIB);
  expect(body.soFar().equals(expected)).toBe(true);
});

test("who has sent little gets no memory for what it may send", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const bodies = Array.from({ length: 100 }, () => {
    const body = new ReceivedBody();
    body.add(Buffer.from("{"));
    body.makeRoom(32 * MIB);
    return body;
  });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
  expect(await bodies[0]!.whole()).toEqual(Buffer.from("{"));
});
