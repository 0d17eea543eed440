import { ownTurn } from "../../time-slice.ts";
import type { ThreadOutbox } from "./outbox.ts";
import type { PassedBytes } from "./protocol.ts";

/** Up to here a text is passed on in less time than memory is. */
const TEXT_BYTES = 4096;
/** What is copied in about a millisecond. */
const COPIED_AT_ONCE = 4 * 1024 * 1024;

type AnyOutbox = Pick<ThreadOutbox<never>, "handOver">;

/** A copy: whoever made the bytes may keep them, or they may lie in memory that they share with others. */
export function passCopy(bytes: Uint8Array, outbox: AnyOutbox): PassedBytes {
  if (bytes.length <= TEXT_BYTES) return asBuffer(bytes).toString("latin1");
  const copy = new Uint8Array(bytes);
  outbox.handOver(copy);
  return copy;
}

/** The same of any length, without keeping everybody waiting for it. */
export function passLargeCopy(bytes: Uint8Array, outbox: AnyOutbox): PassedBytes | Promise<PassedBytes> {
  return bytes.length <= COPIED_AT_ONCE ? passCopy(bytes, outbox) : copyInTurns(bytes, outbox);
}

async function copyInTurns(bytes: Uint8Array, outbox: AnyOutbox): Promise<PassedBytes> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += COPIED_AT_ONCE) {
    copy.set(bytes.subarray(at, at + COPIED_AT_ONCE), at);
    await ownTurn();
  }
  outbox.handOver(copy);
  return copy;
}

/** Bytes that nobody here needs any more. */
export function passOwn(bytes: Uint8Array, outbox: AnyOutbox): PassedBytes {
  if (bytes.length <= TEXT_BYTES || bytes.length < bytes.buffer.byteLength) return passCopy(bytes, outbox);
  outbox.handOver(bytes);
  return bytes;
}

export function received(bytes: PassedBytes): Buffer {
  return typeof bytes === "string" ? Buffer.from(bytes, "latin1") : asBuffer(bytes);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
