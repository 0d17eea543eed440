import { yieldToEventLoop } from "../../async/time-slice.ts";
import type { PassedBytes } from "./protocol.ts";

/** Up to here a text is passed on in less time than memory is. */
const TEXT_BYTES = 4096;
/** What is copied in about a millisecond. */
const COPIED_AT_ONCE = 4 * 1024 * 1024;

/** A copy: whoever made the bytes may keep them, or they may lie in memory that they share with others. */
export function passCopy(bytes: Uint8Array): PassedBytes {
  return bytes.length <= TEXT_BYTES ? asBuffer(bytes).toString("latin1") : new Uint8Array(bytes);
}

/** The same of any length, without keeping everybody waiting for it. */
export function passLargeCopy(bytes: Uint8Array): PassedBytes | Promise<PassedBytes> {
  return bytes.length <= COPIED_AT_ONCE ? passCopy(bytes) : copyInTurns(bytes);
}

async function copyInTurns(bytes: Uint8Array): Promise<PassedBytes> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += COPIED_AT_ONCE) {
    copy.set(bytes.subarray(at, at + COPIED_AT_ONCE), at);
    await yieldToEventLoop();
  }
  return copy;
}

/** Bytes that nobody here needs any more. */
export function passOwn(bytes: Uint8Array): PassedBytes {
  const isAlone = bytes.length > TEXT_BYTES && bytes.length === bytes.buffer.byteLength;
  return isAlone ? bytes : passCopy(bytes);
}

export function received(bytes: PassedBytes): Buffer {
  return typeof bytes === "string" ? Buffer.from(bytes, "latin1") : asBuffer(bytes);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
