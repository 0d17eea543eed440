import { ownTurn } from "../time-slice.ts";

/** The JSON bytes of a value. A value without a JSON form (`undefined`, a function) is a mistake of the caller. */
export function encodeJson(value: unknown): Buffer {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(`A value of type ${typeof value} has no JSON form; an answer must be a JSON value.`);
  }
  return Buffer.from(text);
}

const CHUNK_CHARACTERS = 128 * 1024;

/**
 * Pieces of one JSON text as chunks of about 128 KiB. Each is made in a turn of the event loop of its own, so that an answer
 * of hundreds of megabytes delays nobody, and neither do many of them at once.
 */
export async function* streamPieces(pieces: Iterable<string>): AsyncGenerator<Buffer, void, undefined> {
  let pending = "";
  await ownTurn();
  for (const piece of pieces) {
    pending += piece;
    if (pending.length >= CHUNK_CHARACTERS) {
      yield Buffer.from(pending);
      pending = "";
      await ownTurn();
    }
  }
  yield Buffer.from(pending);
}

/** The pieces of a JSON array whose elements come in slices, which may be empty. */
export function arrayPieces(slices: Iterable<unknown[]>): Generator<string, void, undefined> {
  return joinSlices(slices, (slice) => JSON.stringify(slice).slice(1, -1));
}

/** The same for elements with a writer of their own. */
export function writtenArrayPieces<Element>(
  slices: Iterable<Element[]>,
  write: (element: Element) => string,
): Generator<string, void, undefined> {
  return joinSlices(slices, (slice) => slice.map(write).join(","));
}

function* joinSlices<Element>(
  slices: Iterable<Element[]>,
  writeSlice: (slice: Element[]) => string,
): Generator<string, void, undefined> {
  let separator = "[";
  for (const slice of slices) {
    if (slice.length === 0) continue;
    yield separator + writeSlice(slice);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}
