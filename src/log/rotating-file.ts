import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import type { ByteSink } from "./line-writer.ts";

export interface LogFile {
  path: string;
  /** A file that would grow beyond this is set aside. */
  maxBytes: number;
  /** How many files there are at most, the current one included. */
  count: number;
}

/** Logs tell addresses of peers and of clients, which are nobody else's business. */
const OWNER_ALONE = 0o600;

/** A log file that is set aside when it is full: `log` becomes `log.1`, which becomes `log.2`, and so on. */
export class RotatingFile implements ByteSink {
  readonly #file: LogFile;
  #descriptor: number;
  #size: number;

  /** Throws the system's error when the file cannot be opened. */
  constructor(file: LogFile) {
    this.#file = file;
    this.#descriptor = openForAppending(file.path);
    this.#size = fstatSync(this.#descriptor).size;
  }

  write(bytes: Uint8Array): number {
    if (this.#size > 0 && this.#size + bytes.length > this.#file.maxBytes) this.#rotate();
    const written = writeSync(this.#descriptor, bytes);
    this.#size += written;
    return written;
  }

  #rotate(): void {
    const { path, count } = this.#file;
    if (count === 1) {
      // On Windows a file that was removed while it is open keeps its name until it is closed.
      ftruncateSync(this.#descriptor);
      this.#size = 0;
      return;
    }
    for (let age = count - 1; age > 0; age--) moveIfThere(age === 1 ? path : `${path}.${age - 1}`, `${path}.${age}`);
    const next = openForAppending(path);
    closeSync(this.#descriptor);
    this.#descriptor = next;
    this.#size = fstatSync(next).size;
  }
}

function openForAppending(path: string): number {
  const descriptor = openSync(path, "a", OWNER_ALONE);
  fchmodSync(descriptor, OWNER_ALONE);
  return descriptor;
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
