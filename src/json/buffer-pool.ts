/** Large enough to amortize the cost of a buffer, and small enough to be filled in less than a millisecond. */
const BUFFER_BYTES = 256 * 1024;
/** Enough for a few concurrent streams. */
const MAX_FREE = 32;

const free: Buffer[] = [];
/** The memory of acquired buffers. Buffers that are never released are garbage-collected. */
const acquired = new WeakSet<ArrayBufferLike>();

/**
 * Returns a buffer for one piece of a large response. Buffers are pooled because allocating them costs more than
 * filling them: every allocation causes page faults, and eventually full garbage collections.
 */
export function acquireBuffer(): Buffer {
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  acquired.add(buffer.buffer);
  return buffer;
}

/**
 * Returns a buffer, or the buffer of a slice, to the pool after its last use. Ignores buffers that are not from the
 * pool.
 */
export function releaseBuffer({ buffer }: Buffer): void {
  if (acquired.delete(buffer) && free.length < MAX_FREE) free.push(Buffer.from(buffer));
}

/** Copies long-lived bytes and releases their pooled buffer. Returns bytes that are not from the pool unchanged. */
export function copyOutOfPool(bytes: Buffer): Buffer {
  if (!acquired.has(bytes.buffer)) return bytes;
  const copy = Buffer.from(bytes);
  releaseBuffer(bytes);
  return copy;
}
