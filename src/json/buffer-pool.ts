/** Large enough that what is done once a buffer does not count, small enough to be written in less than a millisecond. */
const BUFFER_BYTES = 256 * 1024;
/** As many as a few streams have under way at once. */
const MAX_FREE = 32;

const free: Buffer[] = [];
/** The memory of those that somebody has; what is never given back is left to the garbage collector. */
const lent = new WeakSet<ArrayBufferLike>();

/**
 * A buffer for a piece of a large answer. Fresh ones would cost more than to fill them: every page of them is a fault, and
 * hundreds of megabytes of them make the garbage collector look through the whole heap.
 */
export function takeBuffer(): Buffer {
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  lent.add(buffer.buffer);
  return buffer;
}

/** For whoever is the last to have read such a buffer, or a part of it. Other buffers may be given too, and stay as they are. */
export function giveBackBuffer({ buffer }: Buffer): void {
  if (lent.delete(buffer) && free.length < MAX_FREE) free.push(Buffer.from(buffer));
}

/** The same bytes for whoever keeps them for long: such a buffer would be missing, and may be hardly filled. */
export function keepBytes(bytes: Buffer): Buffer {
  if (!lent.has(bytes.buffer)) return bytes;
  const own = Buffer.from(bytes);
  giveBackBuffer(bytes);
  return own;
}
