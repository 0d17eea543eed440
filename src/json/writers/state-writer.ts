import type { ByteWriter } from "../byte-writer.ts";
import { MIN_ROOM_BYTES } from "../stream-writer.ts";
import { type Chunks, chunkBytes } from "./registry-chunks.ts";
import { writeBalanceRecords, writeValidatorRecords } from "./registry-writers.ts";

/** A part of a state: encoded bytes, or SSZ chunks to be written as JSON. */
export interface StatePart {
  readonly kind: "bytes" | "validators" | "balances";
  readonly chunks: Chunks;
}

/** Returns the length of a state as SSZ, or undefined for JSON. */
export function stateLength(parts: readonly StatePart[]): number | undefined {
  if (parts.some(({ kind }) => kind !== "bytes")) return undefined;
  return parts.reduce((sum, { chunks }) => sum + chunkBytes(chunks), 0);
}

/** Writes a state from its encoded parts. */
export function* writeState(parts: readonly StatePart[], out: ByteWriter): Generator<void, void, void> {
  for (const { kind, chunks } of parts) {
    if (kind === "validators") yield* writeValidatorRecords(chunks, out);
    else if (kind === "balances") yield* writeBalanceRecords(chunks, out);
    else for (const chunk of chunks) yield* copy(new Uint8Array(chunk), out);
  }
}

function* copy(bytes: Uint8Array, out: ByteWriter): Generator<void, void, void> {
  for (let at = 0; at < bytes.length; ) {
    if (out.room < MIN_ROOM_BYTES) yield;
    const length = Math.min(bytes.length - at, out.room);
    out.copy(bytes, at, length);
    at += length;
  }
}
