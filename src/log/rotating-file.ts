import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { errorCode } from "../errors/error-code.ts";
import type { ByteSink } from "./line-writer.ts";

export interface LogFile {
  path: string;
  /** Size at which the file is rotated. */
  maxBytes: number;
  /** Maximum number of files, including the current one. */
  count: number;
}

/** Logs contain the addresses of peers and clients. */
const OWNER_ONLY = 0o600;

/** A log file with rotation by size: `log` becomes `log.1`, `log.1` becomes `log.2`, and so on. */
export class RotatingFile implements ByteSink {
  readonly #file: LogFile;
  #descriptor: number;
  #size: number;

  /** Throws the system's error if the file cannot be opened. */
  constructor(file: LogFile) {
    this.#file = file;
    this.#descriptor = openForAppending(file.path);
    this.#size = fstatSync(this.#descriptor).size;
  }

  write(bytes: Uint8Array): number {
    if (this.#size > 0 && this.#size + bytes.length > this.#file.maxBytes) this.#rotate();
    const writtenBytes = writeSync(this.#descriptor, bytes);
    this.#size += writtenBytes;
    return writtenBytes;
  }

  #rotate(): void {
    const { path, count } = this.#file;
    if (count === 1) {
      // Truncated instead of removed: on Windows, the name of an open file cannot be reused.
      ftruncateSync(this.#descriptor);
      this.#size = 0;
      return;
    }
    for (let age = count - 1; age > 0; age--) renameIfExists(age === 1 ? path : `${path}.${age - 1}`, `${path}.${age}`);
    const next = openForAppending(path);
    closeSync(this.#descriptor);
    this.#descriptor = next;
    this.#size = fstatSync(next).size;
  }
}

function openForAppending(path: string): number {
  const descriptor = openSync(path, "a", OWNER_ONLY);
  fchmodSync(descriptor, OWNER_ONLY);
  return descriptor;
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
