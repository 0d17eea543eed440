import { constants, type FileHandle, open } from "node:fs/promises";
import { errorCode } from "../errors/error-code.ts";

const OWNER_ONLY = 0o600;

/** File of public keys in validator index order. It has no checksum; readers verify the keys against the state. */
export class PubkeyFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Fills the buffers from a file position and returns the number of bytes read. */
  async read(pieces: Iterable<Uint8Array>, position: number): Promise<number> {
    await using file = await this.#openToRead();
    let count = 0;
    for (const piece of pieces) {
      const bytesRead = file ? await readWhole(file, piece, position + count) : 0;
      count += bytesRead;
      if (bytesRead < piece.length) break;
    }
    return count;
  }

  /** Writes without fsync: lost keys can be recomputed. */
  async write(pieces: Iterable<Uint8Array>, position: number): Promise<void> {
    await using file = await open(this.path, constants.O_WRONLY | constants.O_CREAT, OWNER_ONLY);
    let end = position;
    for (const piece of pieces) {
      await writeWhole(file, piece, end);
      end += piece.length;
    }
  }

  async #openToRead(): Promise<FileHandle | null> {
    try {
      return await open(this.path);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    }
  }
}

/** Repeats short reads until the buffer is full or the file ends. */
async function readWhole(file: FileHandle, piece: Uint8Array, position: number): Promise<number> {
  let count = 0;
  while (count < piece.length) {
    const { bytesRead } = await file.read(piece, count, piece.length - count, position + count);
    if (bytesRead === 0) break;
    count += bytesRead;
  }
  return count;
}

async function writeWhole(file: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let count = 0; count < piece.length; ) {
    const { bytesWritten } = await file.write(piece, count, piece.length - count, position + count);
    count += bytesWritten;
  }
}
