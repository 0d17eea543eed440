import { bytesToBigint, numberToBytes } from "../rlp.ts";
import { forEachValue, type Keccak, putValue } from "./trie.ts";
import { type AccountRecord, NO_CODE, NO_CODE_HASH, type Storage, type World } from "./world.ts";

const VERSION = 1;
const HASH_SIZE = 32;
const FIRST_SIZE = 1024;

/**
 * Encodes an entire world: each distinct code once, then all accounts with their slots. Keys are hashes, so decoding
 * needs no preimages.
 */
export function encodeWorld(world: World): Uint8Array {
  const codes = new Map<string, { index: number; code: Uint8Array }>();
  const accounts = new Writer();
  let count = 0;
  forEachValue(world, (key, account) => {
    count++;
    accounts.bytes(key);
    accounts.short(numberToBytes(account.nonce));
    accounts.short(numberToBytes(account.balance));
    accounts.uint32(account.code.length === 0 ? 0 : codeIndex(codes, account));
    writeStorage(accounts, account.storage);
  });
  const writer = new Writer();
  writer.byte(VERSION);
  writer.uint32(codes.size);
  for (const { code } of codes.values()) writer.long(code);
  writer.uint32(count);
  writer.bytes(accounts.written());
  return writer.finish();
}

/**
 * Decodes a world. Throws if the bytes are truncated or were written by a different version. The caller must check the
 * state root.
 */
export function decodeWorld(bytes: Uint8Array, keccak: Keccak): World {
  const reader = new Reader(bytes);
  const version = reader.byte();
  if (version !== VERSION) throw new Error(`Stored state has version ${version}, expected ${VERSION}.`);
  const codes = Array.from({ length: reader.uint32() }, () => {
    const code = reader.long();
    return { code, codeHash: keccak(code) };
  });
  let world: World;
  for (let left = reader.uint32(); left > 0; left--) {
    const key = reader.bytes(HASH_SIZE);
    const nonce = bytesToBigint(reader.short());
    const balance = bytesToBigint(reader.short());
    const index = reader.uint32();
    const { code, codeHash } = index === 0 ? { code: NO_CODE, codeHash: NO_CODE_HASH } : codes[index - 1]!;
    let storage: Storage;
    for (let slots = reader.uint32(); slots > 0; slots--) {
      storage = putValue(storage, reader.bytes(HASH_SIZE), reader.short());
    }
    world = putValue(world, key, { nonce, balance, code, codeHash, storage });
  }
  reader.end();
  return world;
}

function writeStorage(writer: Writer, storage: Storage): void {
  if (storage === undefined) {
    writer.uint32(0);
    return;
  }
  const slots = new Writer();
  let count = 0;
  forEachValue(storage, (slot, value) => {
    count++;
    slots.bytes(slot);
    slots.short(value);
  });
  writer.uint32(count);
  writer.bytes(slots.written());
}

/** Returns the index of an account's code, starting at 1; 0 means no code. */
function codeIndex(codes: Map<string, { index: number; code: Uint8Array }>, { code, codeHash }: AccountRecord): number {
  const hash = Buffer.from(codeHash).toString("latin1");
  let entry = codes.get(hash);
  if (entry === undefined) {
    entry = { index: codes.size + 1, code };
    codes.set(hash, entry);
  }
  return entry.index;
}

class Writer {
  #buffer = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes at most 255 bytes with their length. */
  short(bytes: Uint8Array): void {
    this.byte(bytes.length);
    this.bytes(bytes);
  }

  long(bytes: Uint8Array): void {
    this.uint32(bytes.length);
    this.bytes(bytes);
  }

  /** Returns a view of the bytes written so far. */
  written(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  finish(): Uint8Array {
    return new Uint8Array(this.written());
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + size));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  uint32(): number {
    const [a, b, c, d] = this.#take(4);
    return ((a! << 24) | (b! << 16) | (c! << 8) | d!) >>> 0;
  }

  /** Reads a copy, so that the input is not retained. */
  bytes(size: number): Uint8Array {
    return this.#take(size).slice();
  }

  short(): Uint8Array {
    return this.bytes(this.byte());
  }

  long(): Uint8Array {
    return this.bytes(this.uint32());
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new Error(`Stored state has ${left} bytes after its end.`);
  }

  #take(size: number): Uint8Array {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new Error("Stored state ends too early.");
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
