import type { Stream, StreamCloseEvent, StreamMessageEvent } from "@libp2p/interface";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { StreamReset, StreamTimeout, UnexpectedEnd } from "./errors.ts";

/** The stream is paused when this many bytes are buffered. */
const HIGH_WATER_BYTES = 1 << 18;

/** Buffered stream reader with a deadline. */
export class StreamReader {
  readonly #stream: Stream;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #ended: boolean;
  #failure: StreamReset | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#ended = stream.readableEnded;
    stream.addEventListener("end", this.#onEnd);
    stream.addEventListener("close", this.#onClose);
    stream.addEventListener("message", this.#onMessage);
  }

  /** Sets the deadline for all reads until the next call of this method. */
  setDeadline(timeoutMs: number): void {
    this.#deadline = SYSTEM_TIMERS.now() + timeoutMs;
  }

  async read(count: number): Promise<Uint8Array> {
    if (!(await this.#fill(count))) throw new UnexpectedEnd();
    return this.#take(count);
  }

  /** Returns the next byte, or undefined at the end of the stream. */
  async readByteOrEnd(): Promise<number | undefined> {
    return (await this.#fill(1)) ? this.#take(1)[0] : undefined;
  }

  detach(): void {
    this.#stream.removeEventListener("end", this.#onEnd);
    this.#stream.removeEventListener("close", this.#onClose);
    this.#stream.removeEventListener("message", this.#onMessage);
    this.#pieces = [];
    this.#length = 0;
  }

  readonly #onMessage = (event: StreamMessageEvent): void => {
    const piece = event.data.subarray();
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > HIGH_WATER_BYTES && this.#stream.readStatus === "readable") this.#stream.pause();
    this.#wake?.();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake?.();
  };

  readonly #onClose = (event: StreamCloseEvent): void => {
    if (event.error !== undefined) this.#failure = new StreamReset(event.error);
    this.#wake?.();
  };

  /** Waits until at least `count` bytes are buffered. Returns false if the stream ends first. */
  async #fill(count: number): Promise<boolean> {
    while (this.#length < count) {
      if (this.#stream.readStatus === "paused") this.#stream.resume();
      if (this.#length >= count) break;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return false;
      await this.#nextEvent();
    }
    return true;
  }

  async #nextEvent(): Promise<void> {
    const remaining = this.#deadline - SYSTEM_TIMERS.now();
    if (remaining <= 0) throw new StreamTimeout("The peer took too long to send.");
    await new Promise<void>((resolve, reject) => {
      const timer = Number.isFinite(remaining)
        ? setTimeout(() => {
            this.#wake = undefined;
            reject(new StreamTimeout("The peer took too long to send."));
          }, remaining)
        : undefined;
      this.#wake = () => {
        this.#wake = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(count: number): Uint8Array {
    const [first] = this.#pieces;
    const buffered = first !== undefined && first.length >= count ? first : Buffer.concat(this.#pieces);
    const rest = buffered.subarray(count);
    if (buffered === first) this.#pieces.shift();
    else this.#pieces = [];
    if (rest.length > 0) this.#pieces.unshift(rest);
    this.#length -= count;
    return buffered.subarray(0, count);
  }
}

/**
 * Writes the bytes and waits until the stream has drained, so that at most one message is buffered for a slow reader.
 * The library's own drain promise works only once.
 */
export async function writeAll(stream: Stream, bytes: Uint8Array, timeoutMs: number): Promise<void> {
  try {
    stream.send(bytes);
  } catch (error) {
    throw new StreamReset(error);
  }
  if (isDrained(stream)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      stream.removeEventListener("drain", onDrain);
      stream.removeEventListener("idle", onDrain);
      stream.removeEventListener("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    // The stream continues writing after its listeners have run.
    const onDrain = (): void => queueMicrotask(() => isDrained(stream) && settle());
    const onClose = (): void => settle(new StreamReset());
    const timer = setTimeout(() => settle(new StreamTimeout("The peer took too long to read.")), timeoutMs);
    stream.addEventListener("drain", onDrain);
    stream.addEventListener("idle", onDrain);
    stream.addEventListener("close", onClose);
  });
}

/** Closes the write side. */
export async function endWriting(stream: Stream, timeoutMs: number): Promise<void> {
  try {
    await stream.close({ signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new StreamReset(error);
  }
}

/** Waits for the peer to close the stream, and resets it after the timeout. */
export async function closeStream(stream: Stream, timeoutMs: number): Promise<void> {
  if (stream.status === "open" || stream.status === "closing") {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => stream.abort(new StreamTimeout("The peer did not close the stream.")), timeoutMs);
      stream.addEventListener(
        "close",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}

function isDrained(stream: Stream): boolean {
  return stream.writeBufferLength === 0 && !stream.writableNeedsDrain;
}
