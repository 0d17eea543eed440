import type { IncomingMessage } from "node:http";
import type { Exchange } from "./exchanges.ts";
import { readTurns } from "./read-turns.ts";
import { HttpRefusal } from "./refusal.ts";

const EMPTY_BODY = Buffer.alloc(0);

/** A body may come in so many pieces of whatever size. */
const FREE_PIECES = 2048;
/** Those of a longer one have at least this many bytes on the average: each costs the node some microseconds and memory. */
const PIECE_BYTES = 64;
/** After so many pieces it is looked at what they cost. */
const PIECES_A_LOOK = 64;

export interface BodyLimit {
  bytes: number;
  /** The limit of a body that begins like this, when it passes the limit above. */
  raise?(beginning: Buffer): number;
}

/**
 * Reads the body of a request and hands it on, or says why not: it is too large, or the node holds as much as it can. A body
 * that breaks off is handed to nobody: its sender is gone.
 */
export function receiveBody(
  req: IncomingMessage,
  exchange: Exchange,
  limit: BodyLimit,
  onBody: (body: Buffer) => void,
  onRefusal: (refusal: HttpRefusal) => void,
): void {
  const chunks: Buffer[] = [];
  let pieces = 0;
  let length = 0;
  let bytes = limit.bytes;
  let isRefused = false;
  const refuse = (refusal: HttpRefusal) => {
    isRefused = true;
    chunks.length = 0;
    exchange.releaseRequest();
    onRefusal(refusal);
  };
  req.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (++pieces % PIECES_A_LOOK === 0) {
      if (length < pieces * PIECE_BYTES) readTurns.suspect(req.socket);
      readTurns.spend(req.socket);
    }
    if (isRefused) return;
    chunks.push(chunk);
    if (length > bytes && limit.raise) bytes = Math.max(bytes, limit.raise(joined(chunks)));
    if (length > bytes) refuse(tooLarge(bytes));
    else if (pieces > FREE_PIECES && length < pieces * PIECE_BYTES) refuse(tooManyPieces());
    else if (!exchange.holdRequest(chunk.length)) refuse(noRoom());
  });
  req.on("end", () => {
    if (!isRefused) onBody(joined(chunks));
  });
}

const tooLarge = (bytes: number) => new HttpRefusal(413, `The request body is larger than ${bytes} bytes.`);

const tooManyPieces = () =>
  new HttpRefusal(
    400,
    `The request body is sent in too many small pieces: send at least ${PIECE_BYTES} bytes in each.`,
  );

const noRoom = () =>
  new HttpRefusal(503, "The node holds as much of other requests as it can; send the request again later.");

function joined(chunks: Buffer[]): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  return chunks.length === 0 ? EMPTY_BODY : Buffer.concat(chunks);
}
