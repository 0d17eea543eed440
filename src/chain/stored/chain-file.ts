import { type FileHandle, open, rm } from "node:fs/promises";
import { crc32c } from "@node-rs/crc32";
import { compress, uncompress } from "snappy";

/** The first bytes of an exported chain; docs/chain-file.md describes the rest. */
const MAGIC = new TextEncoder().encode("fanal chain 1\n");
const HEADER_BYTES = 9;
/** No entry of any network comes near, so a larger one is rubbish. */
const MAX_ENTRY_BYTES = 2 ** 31;

/** What an entry of the file holds. */
export const EntryKind = {
  /** JSON: what identifies the chain, and where it is final. */
  about: 1,
  /** SSZ of a state. */
  state: 2,
  /** SSZ of a finalized signed block; ascending. */
  finalizedBlock: 3,
  /** SSZ of a signed block that is not final; ascending. */
  hotBlock: 4,
  /** State root, slot and block root of states in slots without a block, 72 bytes each. */
  emptySlots: 5,
  /** JSON: how many entries of each kind there were. Without it the file is not whole. */
  end: 6,
  /** An entry of the database as it lies there: its bucket (1 byte), the length of its key (2, big-endian), key and value. */
  raw: 7,
} as const;

export interface FileEntry {
  kind: number;
  bytes: Uint8Array;
}

/** A file cannot be imported; the message is the end of a sentence. */
export class ChainFileError extends Error {}

export class ChainFileWriter {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;

  /** A file that is there already is not overwritten. Nothing more is written once the signal is aborted. */
  static async create(path: string, signal?: AbortSignal): Promise<ChainFileWriter> {
    const writer = new ChainFileWriter(await open(path, "wx", 0o600), path, signal);
    try {
      await writer.#file.writeFile(MAGIC);
      return writer;
    } catch (error) {
      await writer.discard();
      throw error;
    }
  }

  private constructor(file: FileHandle, path: string, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#path = path;
    this.#signal = signal;
  }

  async write(kind: number, bytes: Uint8Array): Promise<void> {
    this.#signal?.throwIfAborted();
    const compressed = await compress(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt8(kind, 0);
    header.writeUInt32LE(compressed.length, 1);
    header.writeUInt32LE(crc32c(compressed, crc32c(header.subarray(0, 5))), 5);
    await this.#file.writeFile(Buffer.concat([header, compressed]));
  }

  /** What was written is on the disk itself when this is done. */
  async close(): Promise<void> {
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  /** Leaves no file behind. */
  async discard(): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

/** The entries of a file in their order; throws a `ChainFileError` at the first that is not whole. */
export async function* readChainFile(path: string): AsyncGenerator<FileEntry> {
  const file = await open(path, "r");
  try {
    const magic = await take(file, MAGIC.length);
    if (!magic?.equals(MAGIC)) throw new ChainFileError("it is not an exported chain");
    for (let number = 1; ; number++) {
      const header = await take(file, HEADER_BYTES);
      if (header === null) return;
      const length = header.readUInt32LE(1);
      const compressed = length > MAX_ENTRY_BYTES ? null : await take(file, length);
      if (!compressed || crc32c(compressed, crc32c(header.subarray(0, 5))) !== header.readUInt32LE(5)) {
        throw new ChainFileError(`its entry ${number} is damaged or cut short`);
      }
      yield { kind: header.readUInt8(0), bytes: new Uint8Array((await uncompress(compressed)) as Buffer) };
    }
  } finally {
    await file.close();
  }
}

/** The next bytes; null when there are none, or too few. */
async function take(file: FileHandle, length: number): Promise<Buffer | null> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled);
    if (bytesRead === 0) return null;
    filled += bytesRead;
  }
  return buffer;
}
