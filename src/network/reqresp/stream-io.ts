import type { Stream, StreamCloseEvent, StreamMessageEvent } from "@libp2p/interface";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { EarlyEnd, StreamFailure, StreamTimeout } from "./errors.ts";

/** What has arrived and was not read yet; beyond this the sender is told to wait. */
const HIGH_WATER_BYTES = 1 << 18;

/** Reads a stream piece by piece, within the time it is given. */
export class StreamReader {
  readonly #stream: Stream;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #ended: boolean;
  #failure: StreamFailure | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#ended = stream.readableEnded;
    stream.addEventListener("end", this.#onEnd);
    stream.addEventListener("close", this.#onClose);
    stream.addEventListener("message", this.#onMessage);
  }

  /** From now on until the next call, all reading together may take so long. */
  allowTime(milliseconds: number): void {
    this.#deadline = SYSTEM_TIMERS.now() + milliseconds;
  }

  async read(count: number): Promise<Uint8Array> {
    if (!(await this.#fill(count))) throw new EarlyEnd();
    return this.#take(count);
  }

  /** The next byte, or undefined at the end of the stream. */
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
    if (event.error !== undefined) this.#failure = new StreamFailure(event.error);
    this.#wake?.();
  };

  /** Whether so many bytes are there; false when the stream ended before. */
  async #fill(count: number): Promise<boolean> {
    while (this.#length < count) {
      if (this.#stream.readStatus === "paused") this.#stream.resume();
      if (this.#length >= count) break;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return false;
      await this.#news();
    }
    return true;
  }

  async #news(): Promise<void> {
    const remaining = this.#deadline - SYSTEM_TIMERS.now();
    if (remaining <= 0) throw new StreamTimeout("The other end took too long to send.");
    await new Promise<void>((resolve, reject) => {
      const timer = Number.isFinite(remaining)
        ? setTimeout(() => {
            this.#wake = undefined;
            reject(new StreamTimeout("The other end took too long to send."));
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
    const joined = first !== undefined && first.length >= count ? first : Buffer.concat(this.#pieces);
    const rest = joined.subarray(count);
    if (joined === first) this.#pieces.shift();
    else this.#pieces = [];
    if (rest.length > 0) this.#pieces.unshift(rest);
    this.#length -= count;
    return joined.subarray(0, count);
  }
}

/**
 * Writes, and waits until the stream has taken all of it, so that a slow reader never has more than one message waiting.
 * The library's own promise of a drained stream resolves only the first time, and at once ever after.
 */
export async function writeAll(stream: Stream, bytes: Uint8Array, timeoutMs: number): Promise<void> {
  try {
    stream.send(bytes);
  } catch (error) {
    throw new StreamFailure(error);
  }
  if (isDrained(stream)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      stream.removeEventListener("drain", look);
      stream.removeEventListener("idle", look);
      stream.removeEventListener("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    // The stream continues to write after its own listeners have run.
    const look = (): void => queueMicrotask(() => isDrained(stream) && settle());
    const onClose = (): void => settle(new StreamFailure());
    const timer = setTimeout(() => settle(new StreamTimeout("The other end took too long to read.")), timeoutMs);
    stream.addEventListener("drain", look);
    stream.addEventListener("idle", look);
    stream.addEventListener("close", onClose);
  });
}

/** Ends the writing side. */
export async function endWriting(stream: Stream, timeoutMs: number): Promise<void> {
  try {
    await stream.close({ signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new StreamFailure(error);
  }
}

/** Gives the other end some time to end the stream too, then resets what is left of it. */
export async function closeStream(stream: Stream, timeoutMs: number): Promise<void> {
  if (stream.status === "open" || stream.status === "closing") {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(
        () => stream.abort(new StreamTimeout("The other end did not end the stream.")),
        timeoutMs,
      );
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
