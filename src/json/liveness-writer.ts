import { type ByteWriter, constant } from "./byte-writer.ts";
import { ROOM_BYTES } from "./stream-writer.ts";

/** Validators, and at the same places whether they were seen: 1 or 0. */
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

/** The standard's JSON of who was seen in an epoch. */
export function* writeLiveness({ indices, live }: LivenessList, out: ByteWriter): Generator<void, void, void> {
  out.byte(OPENING_BRACKET);
  for (let at = 0; at < indices.length; at++) {
    if (out.room < ROOM_BYTES) yield;
    if (at > 0) out.byte(COMMA);
    out.constant(INDEX);
    out.uint(indices[at]!);
    out.constant(live[at] === 1 ? LIVE : NOT_LIVE);
  }
  out.byte(CLOSING_BRACKET);
}
