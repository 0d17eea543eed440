import { randomBytes } from "node:crypto";
import { Compressor, compressSync, Decompressor } from "snappy";
import { describe, expect, it } from "vitest";
import { maxCompressedLength } from "../snappy-length.ts";
import { decodeFrames, decodeVarint, encodeFrames, encodeVarint, type ReadBytes } from "./ssz-snappy.ts";

const IDENTIFIER = Buffer.from([0xff, 6, 0, 0, ...Buffer.from("sNaPpY")]);

/** Reads from memory and tracks the position. */
function source(bytes: Uint8Array): { read: ReadBytes; position: number } {
  const state = {
    position: 0,
    async read(count: number) {
      if (state.position + count > bytes.length) throw new Error("Nothing more is there.");
      state.position += count;
      return bytes.subarray(state.position - count, state.position);
    },
  };
  return state;
}

const decode = (bytes: Uint8Array, size: number) => decodeFrames(source(bytes).read, size);

function chunk(type: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header[0] = type;
  header.writeUIntLE(body.length, 1, 3);
  return Buffer.concat([header, body]);
}

const DATA: [name: string, data: Buffer][] = [
  ["a byte", Buffer.from([7])],
  ["a status", randomBytes(84)],
  ["a full frame", randomBytes(65_536)],
  ["a frame and a byte", Buffer.alloc(65_537, "block")],
  ["frames of both kinds", Buffer.concat([randomBytes(70_000), Buffer.alloc(200_000, 1)])],
];

describe("frames", () => {
  it.each(DATA)("of %s round-trip", async (_name, data) => {
    const encoded = encodeFrames(data);

    expect(Buffer.from(await decode(encoded, data.length)).equals(data)).toBe(true);
    expect(encoded.length).toBeLessThanOrEqual(maxCompressedLength(data.length));
  });

  it.each(DATA)("of %s are compatible with another implementation", async (_name, data) => {
    const decompressor = new Decompressor();
    const read = Buffer.concat([decompressor.update(encodeFrames(data)), await decompressor.finish()]);
    expect(read.equals(data)).toBe(true);

    const compressor = new Compressor();
    const written = Buffer.concat([compressor.update(data), await compressor.finish()]);
    expect(Buffer.from(await decode(written, data.length)).equals(data)).toBe(true);
  });

  it("are read up to the payload length only", async () => {
    const data = randomBytes(1000);
    const encoded = encodeFrames(data);
    const bytes = source(Buffer.concat([encoded, encodeFrames(data)]));

    await decodeFrames(bytes.read, data.length);

    expect(bytes.position).toBe(encoded.length);
  });

  it("may be interleaved with padding, skippable chunks and identifiers", async () => {
    const data = Buffer.alloc(1000, 3);
    const frame = encodeFrames(data).subarray(IDENTIFIER.length);
    const between = Buffer.concat([chunk(0xfe, randomBytes(9)), chunk(0x80, randomBytes(3)), IDENTIFIER]);

    expect(await decode(Buffer.concat([IDENTIFIER, between, frame]), data.length)).toEqual(Uint8Array.from(data));
  });
});

describe("frames are rejected for", () => {
  const data = Buffer.alloc(500, 1);
  const good = encodeFrames(data);
  const frame = good.subarray(IDENTIFIER.length);
  const flipped = (index: number) => good.map((byte, at) => (at === index ? byte ^ 1 : byte));
  const behindIdentifier = (...chunks: Uint8Array[]) => Buffer.concat([IDENTIFIER, ...chunks]);
  const crc = Buffer.alloc(4);
  const bomb = compressSync(Buffer.alloc(1 << 24));

  const CASES: [what: string, bytes: Uint8Array, size: number, message: RegExp][] = [
    ["frames without identifier", frame, data.length, /does not start with the snappy stream identifier/],
    ["another identifier", flipped(5), data.length, /identifier is wrong/],
    ["a wrong checksum", flipped(IDENTIFIER.length + 4), data.length, /wrong checksum/],
    [
      "a damaged frame",
      behindIdentifier(chunk(0, Buffer.concat([crc, Buffer.from([5, 0xff, 0xff])]))),
      5,
      /decompressed/,
    ],
    ["a frame without checksum", behindIdentifier(chunk(1, Buffer.from([1, 2]))), 5, /no checksum/],
    [
      "a frame without length",
      behindIdentifier(chunk(0, Buffer.concat([crc, Buffer.alloc(5, 0xff)]))),
      5,
      /lacks its uncompressed length/,
    ],
    ["an unknown chunk that must not be skipped", behindIdentifier(chunk(2, crc)), 5, /unknown type/],
    ["more than the payload length", good, data.length - 1, /exceed the payload length/],
    ["a frame of more than 64 KiB", behindIdentifier(chunk(1, Buffer.alloc(65_541))), 70_000, /exceeds 64 KiB/],
    ["a bomb", behindIdentifier(chunk(0, Buffer.concat([crc, bomb]))), 1 << 23, /too long/],
    [
      "a small bomb",
      behindIdentifier(chunk(0, Buffer.concat([crc, bomb.subarray(0, 1000)]))),
      1 << 23,
      /exceeds 64 KiB/,
    ],
    ["endless padding", behindIdentifier(...Array.from({ length: 300 }, () => chunk(0xfe, crc))), 500, /longer than/],
    [
      "endless empty frames",
      behindIdentifier(...Array.from({ length: 300 }, () => chunk(0xff, Buffer.from("sNaPpY")))),
      500,
      /longer than/,
    ],
    ["one long chunk", behindIdentifier(Buffer.from([0xfe, 0xff, 0xff, 0xff])), 500, /longer than/],
  ];

  it.each(CASES)("%s", async (_what, bytes, size, message) => {
    await expect(decode(bytes, size)).rejects.toThrow(message);
    await expect(decode(bytes, size)).rejects.toMatchObject({ name: "ProtocolViolation" });
  });
});

it("varints encode every length up to 64 bits", () => {
  for (const value of [0, 1, 127, 128, 300, 2 ** 31, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER]) {
    expect(decodeVarint(encodeVarint(value))).toBe(BigInt(value));
  }
  // An example from the protocol buffers documentation.
  expect([...encodeVarint(150)]).toEqual([0x96, 0x01]);
  expect(decodeVarint(Uint8Array.of(...Array(9).fill(0xff), 0x01))).toBe(2n ** 64n - 1n);
  expect(decodeVarint(Uint8Array.of(...Array(9).fill(0xff), 0x02))).toBeUndefined();
  expect(decodeVarint(Uint8Array.of(0x80))).toBeUndefined();
});
