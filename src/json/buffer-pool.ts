/** Large enough to amortize the cost per buffer, small enough to be filled in less than a millisecond. */
const BUFFER_BYTES = 256 * 1024;
/** Enough for a few concurrent streams. */
const MAX_FREE = 32;

const free: Buffer[] = [];
/** Memory of acquired buffers. Those that are never released are garbage-collected. */
const acquired = new WeakSet<ArrayBufferLike>();

/**
 * Returns a buffer for a piece of a large response. Pooled, because allocating costs more than filling: page faults for
 * every buffer, and full garbage collections.
 */
export function acquireBuffer(): Buffer {
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  acquired.add(buffer.buffer);
  return buffer;
}

/** Returns a buffer, or a slice of it, to the pool after its last use. Ignores buffers that are not from the pool. */
export function releaseBuffer({ buffer }: Buffer): void {
  if (acquired.delete(buffer) && free.length < MAX_FREE) free.push(Buffer.from(buffer));
}

/** Copies bytes that are kept for long, and releases their pooled buffer. Returns other bytes unchanged. */
export function copyOutOfPool(bytes: Buffer): Buffer {
  if (!acquired.has(bytes.buffer)) return bytes;
  const copy = Buffer.from(bytes);
  releaseBuffer(bytes);
  return copy;
}
