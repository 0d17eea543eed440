import { type ByteWriter, constant } from "../byte-writer.ts";
import { MIN_ROOM_BYTES } from "../stream-writer.ts";

/** Validator indices, and at the same positions 1 for a live validator or 0. */
export interface LivenessList {
  indices: Uint32Array;
  live: Uint8Array;
}

const OPENING_BRACKET = "[".charCodeAt(0);
const CLOSING_BRACKET = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const INDEX = constant('{"index":"');
const LIVE = constant('","is_live":true}');
const NOT_LIVE = constant('","is_live":false}');

/** Writes the response data of getLiveness (Beacon API). */
export function* writeLiveness({ indices, live }: LivenessList, out: ByteWriter): Generator<void, void, void> {
  out.byte(OPENING_BRACKET);
  for (let at = 0; at < indices.length; at++) {
    if (out.room < MIN_ROOM_BYTES) yield;
    if (at > 0) out.byte(COMMA);
    out.constant(INDEX);
    out.uint(indices[at]!);
    out.constant(live[at] === 1 ? LIVE : NOT_LIVE);
  }
  out.byte(CLOSING_BRACKET);
}
