import { ByteReader } from "./byte-reader.ts";

/** A table that is part of the current version. */
export interface LiveTable {
  number: number;
  size: number;
  smallestKey: Uint8Array;
  largestKey: Uint8Array;
}

/** The files that make up a database. */
export interface Manifest {
  tables: Map<number, LiveTable>;
  /** Number of the oldest log that has not been flushed into tables; 0 for a database that was never opened. */
  firstLog: number;
  /** Sequence number of the newest write when the manifest was last written. */
  lastSequence: bigint;
}

// LevelDB, db/version_edit.cc.
const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE_NUMBER = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_FILE = 6;
const NEW_FILE = 7;
const PREVIOUS_LOG_NUMBER = 9;

/** Replays the version edits of a manifest. */
export function readManifest(records: readonly Uint8Array[]): Manifest {
  const manifest: Manifest = { tables: new Map(), firstLog: 0, lastSequence: 0n };
  for (const record of records) {
    const reader = new ByteReader(record);
    while (!reader.isAtEnd) readChange(reader, manifest);
  }
  return manifest;
}

function readChange(reader: ByteReader, manifest: Manifest): void {
  const tag = reader.varint();
  switch (tag) {
    case COMPARATOR:
      reader.string();
      return;
    case LOG_NUMBER:
      manifest.firstLog = reader.varint();
      return;
    case NEXT_FILE_NUMBER:
    case PREVIOUS_LOG_NUMBER:
      reader.varint();
      return;
    case LAST_SEQUENCE:
      manifest.lastSequence = BigInt(reader.varint());
      return;
    case COMPACT_POINTER:
      reader.varint();
      reader.string();
      return;
    case DELETED_FILE:
      reader.varint();
      manifest.tables.delete(reader.varint());
      return;
    case NEW_FILE: {
      reader.varint();
      const [number, size, smallestKey, largestKey] = [
        reader.varint(),
        reader.varint(),
        reader.string(),
        reader.string(),
      ];
      manifest.tables.set(number, { number, size, smallestKey, largestKey });
      return;
    }
    default:
      throw new Error(`unknown manifest tag ${tag}`);
  }
}
