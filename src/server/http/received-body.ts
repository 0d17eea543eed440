import { TimeSlice } from "../../async/time-slice.ts";

/** To join pieces up to this many bytes takes a millisecond. */
const JOINED_AT_ONCE_BYTES = 1024 * 1024;
const FREED_FROM_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/**
 * What has come of a body. To join the pieces of a long one would hold up everybody else, because the system takes long to give so much memory:
 * they are put in their places as they come, or joined in slices when nobody knew how long it would be.
 */
export class ReceivedBody {
  #pieces: Buffer[] = [];
  /** In place of the pieces; as long as the body will be. */
  #whole: Buffer | undefined;
  #bytes = 0;

  add(piece: Buffer): void {
    if (this.#whole) {
      this.#bytes += put(piece, this.#whole, this.#bytes);
    } else {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
  }

  /** It will have so many bytes. Who has sent little gets no memory for more yet. */
  makeRoom(bytes: number): void {
    if (this.#whole || this.#bytes <= JOINED_AT_ONCE_BYTES) return;
    this.#whole = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const piece of this.#pieces) at += put(piece, this.#whole, at);
    this.#pieces = [];
  }

  soFar(): Buffer {
    return this.#whole ? this.#whole.subarray(0, this.#bytes) : joined(this.#pieces);
  }

  /** To be called when all has come; it is whoever calls it to whom the body belongs then. */
  whole(): Buffer | Promise<Buffer> {
    if (this.#whole) return this.#whole;
    return this.#bytes > JOINED_AT_ONCE_BYTES ? joinedInSlices(this.#pieces, this.#bytes) : joined(this.#pieces);
  }

  /** Nobody wants it. */
  drop(): void {
    for (const piece of this.#pieces) free(piece);
    if (this.#whole) free(this.#whole);
    this.#pieces = [];
    this.#whole = undefined;
  }
}

function joined(pieces: Buffer[]): Buffer {
  if (pieces.length === 1) return pieces[0]!;
  return pieces.length === 0 ? EMPTY : Buffer.concat(pieces);
}

async function joinedInSlices(pieces: readonly Buffer[], bytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  const slice = new TimeSlice();
  let at = 0;
  for (const piece of pieces) {
    at += put(piece, whole, at);
    await slice.yieldIfDue();
  }
  return whole;
}

/** Gives how much that is. Nobody else has a use for the piece. */
function put(piece: Buffer, whole: Buffer, at: number): number {
  const { length } = piece;
  whole.set(piece, at);
  free(piece);
  return length;
}

/** At once, not when the memory is next looked through for what nobody uses; of little memory that would take longer than it is worth. */
function free(piece: Buffer): void {
  if (piece.length < FREED_FROM_BYTES) return;
  const { buffer, length } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
