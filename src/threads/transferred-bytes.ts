import { yieldToEventLoop } from "../async/time-slice.ts";

/**
 * Bytes for transfer: a latin1 string if they are short, which is cheaper, and otherwise a buffer with its own memory.
 */
export type TransferredBytes = string | Uint8Array;

/** Up to this size, strings transfer faster than buffers. */
const MAX_STRING_BYTES = 4096;
/** Number of bytes copied in about a millisecond. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** Copies bytes for transfer, since their memory may be cached or shared. */
export function copyForTransfer(bytes: Uint8Array): TransferredBytes {
  return bytes.length <= MAX_STRING_BYTES ? asBuffer(bytes).toString("latin1") : new Uint8Array(bytes);
}

/** Copies bytes of any length for transfer, in time slices. */
export function copyLargeForTransfer(bytes: Uint8Array): TransferredBytes | Promise<TransferredBytes> {
  return bytes.length <= SLICE_BYTES ? copyForTransfer(bytes) : copyInSlices(bytes);
}

async function copyInSlices(bytes: Uint8Array): Promise<TransferredBytes> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    copy.set(bytes.subarray(at, at + SLICE_BYTES), at);
    await yieldToEventLoop();
  }
  return copy;
}

/** Transfers bytes that are no longer used in this thread, without copying them if they own their memory. */
export function transferOwned(bytes: Uint8Array): TransferredBytes {
  return bytes.length > MAX_STRING_BYTES && ownsMemory(bytes) ? bytes : copyForTransfer(bytes);
}

/** True if the bytes fill their buffer, which can therefore be transferred. */
export function ownsMemory(bytes: Uint8Array): boolean {
  return bytes.length === bytes.buffer.byteLength;
}

/** Restores transferred bytes. */
export function receiveBytes(bytes: TransferredBytes): Buffer {
  return typeof bytes === "string" ? Buffer.from(bytes, "latin1") : asBuffer(bytes);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
