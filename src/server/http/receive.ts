import type { IncomingMessage } from "node:http";
import { scheduler } from "../scheduler.ts";
import { type Exchange, holdsBodyBack } from "./exchanges.ts";
import { ReceivedBody } from "./received-body.ts";
import { HttpRefusal } from "./refusal.ts";

/** A body may come in so many pieces of whatever size. */
const FREE_PIECES = 2048;
/** Those of a longer one have at least this many bytes on the average: each costs some microseconds and memory. */
const PIECE_BYTES = 64;
/** After this many bytes the rest of a body waits for its turn. */
const BYTES_PER_TURN = 64 * 1024;

export interface BodyLimit {
  bytes: number;
  /** Some may be larger, as what they have up to the limit above tells. */
  raised?: {
    bytes: number;
    isFor(beginning: Buffer): boolean;
    /** A sentence for all others. */
    advice: string;
  };
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
  const body = new ReceivedBody();
  const declared = Number(req.headers["content-length"]);
  let pieces = 0;
  let length = 0;
  let pauseAt = BYTES_PER_TURN;
  const { raised } = limit;
  const most = raised?.bytes ?? limit.bytes;
  let { bytes } = limit;
  let isRefused = false;
  const refuse = (refusal: HttpRefusal) => {
    isRefused = true;
    body.drop();
    exchange.releaseRequest();
    onRefusal(refusal);
  };
  const readOn = () => {
    if (!isRefused) req.resume();
  };
  req.on("data", (chunk: Buffer) => {
    const came = chunk.length;
    length += came;
    pieces++;
    if (isRefused) return;
    if (length >= pauseAt) {
      pauseAt = length + BYTES_PER_TURN;
      req.pause();
      scheduler.read(readOn);
    }
    body.add(chunk);
    if (length > bytes && bytes < most && raised?.isFor(body.soFar().subarray(0, bytes))) bytes = most;
    if (length > bytes) refuse(tooLarge(bytes, bytes < most ? raised?.advice : undefined));
    else if (pieces > FREE_PIECES && length < pieces * PIECE_BYTES) refuse(tooManyPieces());
    else if (!exchange.holdRequest(came)) refuse(noRoom());
    else if (declared <= bytes) body.makeRoom(declared);
  });
  const breakOff = () => body.drop();
  req.once("close", breakOff);
  req.on("end", () => {
    req.off("close", breakOff);
    if (isRefused) return;
    const whole = body.whole();
    if (whole instanceof Promise) void whole.then(onBody);
    else onBody(whole);
  });
  if (declared > most) refuse(tooLarge(most));
  else if (holdsBodyBack(req)) exchange.res.writeContinue();
}

function tooLarge(bytes: number, advice?: string): HttpRefusal {
  const message = `The request body is larger than ${bytes} bytes.`;
  return new HttpRefusal(413, advice === undefined ? message : `${message} ${advice}`);
}

const tooManyPieces = () =>
  new HttpRefusal(
    400,
    `The request body is sent in too many small pieces: send at least ${PIECE_BYTES} bytes in each.`,
  );

const noRoom = () =>
  new HttpRefusal(503, "The node holds as much of other requests as it can; send the request again later.");
