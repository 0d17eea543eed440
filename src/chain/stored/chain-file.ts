import { type FileHandle, open, rm } from "node:fs/promises";
import { crc32c } from "@node-rs/crc32";
import { compress, uncompress } from "snappy";

/** Magic bytes of a chain file. The format is described in docs/chain-file.md. */
const MAGIC = new TextEncoder().encode("fanal chain 1\n");
const HEADER_BYTES = 9;

/** Types of file entries. */
export const EntryKind = {
  /** JSON: identity of the chain and finalized checkpoint. */
  about: 1,
  /** SSZ-encoded state. */
  state: 2,
  /** SSZ-encoded finalized signed block, in ascending slot order. */
  finalizedBlock: 3,
  /** SSZ-encoded unfinalized signed block, in ascending slot order. */
  hotBlock: 4,
  /** State root, slot and block root of states at empty slots, 72 bytes each. */
  emptySlots: 5,
  /** JSON: number of entries by type. Missing from an incomplete file. */
  end: 6,
  /** Raw database entry: bucket (1 byte), key length (2, big-endian), key and value. */
  raw: 7,
} as const;

export interface FileEntry {
  kind: number;
  bytes: Uint8Array;
}

/** Thrown if the file cannot be imported. The message is a clause without a period. */
export class ChainFileError extends Error {}

/** Writes the entries of a chain file, compressed and with checksums. */
export class ChainFileWriter {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;

  /** Creates a new file; never overwrites an existing one. Stops writing once the signal is aborted. */
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

  /** Syncs and closes the file. */
  async close(): Promise<void> {
    try {
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  /** Closes and deletes the file. */
  async discard(): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

/** Iterates the entries of a file; throws a `ChainFileError` at the first damaged one. */
export async function* readChainFile(path: string): AsyncGenerator<FileEntry> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const magic = await take(file, MAGIC.length);
    if (!magic.equals(MAGIC)) throw new ChainFileError("it is not a chain file");
    for (let number = 1; ; number++) {
      const header = await take(file, HEADER_BYTES);
      if (header.length === 0) return;
      const bytes = await takeContent(file, header, size);
      if (!bytes) throw new ChainFileError(`entry ${number} is damaged or truncated`);
      yield { kind: header.readUInt8(0), bytes };
    }
  } finally {
    await file.close();
  }
}

/** Returns null if the entry is damaged or truncated. */
async function takeContent(file: FileHandle, header: Buffer, fileBytes: number): Promise<Uint8Array | null> {
  if (header.length < HEADER_BYTES) return null;
  const length = header.readUInt32LE(1);
  // Limits the allocation.
  if (length > fileBytes) return null;
  const compressed = await take(file, length);
  if (compressed.length < length || crc32c(compressed, crc32c(header.subarray(0, 5))) !== header.readUInt32LE(5)) {
    return null;
  }
  return uncompress(compressed).then(
    (bytes) => new Uint8Array(bytes as Buffer),
    () => null,
  );
}

/** Reads the next `length` bytes, or fewer at the end of the file. */
async function take(file: FileHandle, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
