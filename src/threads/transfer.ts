import { MessagePort } from "node:worker_threads";

/** Objects that can be moved to another thread instead of being copied. */
export type Movable = ArrayBuffer | MessagePort;

/** A value whose memory moves to the other thread and is no longer usable in this one. */
export class Moved {
  readonly value: unknown;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: unknown, ...buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

/**
 * Returns a value for `postMessage`. Ports and the buffers of `Moved` values are added to `moved`. Other values are
 * cloned. A view is cloned without the rest of its buffer.
 */
export function toTransfer(value: unknown, moved: Movable[]): unknown {
  if (value instanceof MessagePort) {
    moved.push(value);
    return value;
  }
  if (value instanceof Moved) {
    moved.push(...value.buffers);
    return value.value;
  }
  return withOwnBuffers(value);
}

/** Copies bytes out of larger buffers: a clone of a view contains the whole buffer. */
function withOwnBuffers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return hasOwnBuffer(value) ? value : new Uint8Array(value);
  if (Array.isArray(value)) return value.map(withOwnBuffers);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) copy[key] = withOwnBuffers(inner);
  return copy;
}

/** True if the buffer contains nothing else. Also true for shared memory, which need not be copied. */
function hasOwnBuffer({ buffer, length }: Uint8Array): boolean {
  return buffer.byteLength === length || buffer instanceof SharedArrayBuffer;
}
