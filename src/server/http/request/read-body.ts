import type { IncomingMessage } from "node:http";
import { scheduler } from "../../scheduler.ts";
import { type Exchange, expectsContinue } from "../exchange.ts";
import { HttpError } from "../http-error.ts";
import { BodyBuffer } from "./body-buffer.ts";

/** A body may have up to this many chunks of any size. */
const MAX_SMALL_CHUNKS = 2048;
/** Minimum average size of the chunks beyond that number, since every chunk costs time and memory. */
const MIN_CHUNK_BYTES = 64;
/** Reading pauses after this many bytes, until the scheduler resumes it. */
const BYTES_PER_TURN = 64 * 1024;

export interface BodyLimit {
  bytes: number;
  /** Advice appended to the error if the body exceeds every limit. */
  advice?: string;
  /** A higher limit for bodies that qualify based on their first `bytes` bytes. */
  raised?: {
    bytes: number;
    isFor(beginning: Buffer): boolean;
    /** Advice appended to the error for bodies that do not qualify. */
    advice: string;
  };
}

/**
 * Reads a request body and passes it to `onBody`. Calls `onError` if the body is too large or the memory limit has been
 * reached. Silently drops an aborted body.
 */
export function readBody(
  req: IncomingMessage,
  exchange: Exchange,
  limit: BodyLimit,
  onBody: (body: Buffer) => void,
  onError: (error: HttpError) => void,
): void {
  const body = new BodyBuffer();
  const declaredLength = Number(req.headers["content-length"]);
  let chunks = 0;
  let length = 0;
  let pauseAt = BYTES_PER_TURN;
  const { raised } = limit;
  const maxBytes = raised?.bytes ?? limit.bytes;
  let { bytes } = limit;
  let isRejected = false;
  const reject = (error: HttpError) => {
    isRejected = true;
    body.free();
    exchange.releaseRequest();
    onError(error);
  };
  const resume = () => {
    if (!isRejected) req.resume();
  };
  req.on("data", (chunk: Buffer) => {
    const chunkBytes = chunk.length;
    length += chunkBytes;
    chunks++;
    if (isRejected) return;
    if (length >= pauseAt) {
      pauseAt = length + BYTES_PER_TURN;
      req.pause();
      scheduler.read(resume);
    }
    body.add(chunk);
    if (length > bytes && bytes < maxBytes && raised?.isFor(body.soFar().subarray(0, bytes))) bytes = maxBytes;
    if (length > bytes) reject(tooLarge(bytes, bytes < maxBytes ? raised?.advice : limit.advice));
    else if (chunks > MAX_SMALL_CHUNKS && length < chunks * MIN_CHUNK_BYTES) reject(tooManyChunks());
    else if (!exchange.reserveRequest(chunkBytes)) reject(memoryLimitReached());
    else if (declaredLength <= bytes) body.allocate(declaredLength);
  });
  const onAbort = () => body.free();
  req.once("close", onAbort);
  req.on("end", () => {
    req.off("close", onAbort);
    if (isRejected) return;
    const complete = body.complete();
    if (complete instanceof Promise) void complete.then(onBody);
    else onBody(complete);
  });
  if (declaredLength > maxBytes) reject(tooLarge(maxBytes, limit.advice));
  else if (expectsContinue(req)) exchange.res.writeContinue();
}

function tooLarge(bytes: number, advice?: string): HttpError {
  const message = `The request body is larger than ${bytes} bytes.`;
  return new HttpError(413, advice === undefined ? message : `${message} ${advice}`);
}

const tooManyChunks = () =>
  new HttpError(
    400,
    `The request body arrives in too many small chunks. Send at least ${MIN_CHUNK_BYTES} bytes in each.`,
  );

const memoryLimitReached = () => new HttpError(503, "The memory limit for request bodies is reached. Retry later.");
