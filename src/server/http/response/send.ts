import type { ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorCode } from "../../../errors/error-code.ts";
import { releaseBuffer } from "../../../json/buffer-pool.ts";
import { errorBody } from "../http-error.ts";
import type { ChunkStream } from "./chunk-stream.ts";
import { MEDIA_TYPES } from "./negotiation.ts";

/** Below this size, copying once is cheaper than writing two buffers. */
const SINGLE_WRITE_BELOW_BYTES = 16 * 1024;

/** Maximum amount of stream data in the socket buffer while the next chunk is produced. */
const HIGH_WATER_BYTES = 512 * 1024;

/** How long a client that is still sending may take to read the final response. */
const LINGER_MILLIS = 1000;

/** Writes a complete body after its headers. */
export function writeBody(res: ServerResponse, pieces: readonly Buffer[], length: number): void {
  if (!res.shouldKeepAlive && !res.req.complete) {
    for (const piece of pieces) res.write(piece);
    lingerBeforeEnd(res);
  } else if (pieces.length === 1 && length < SINGLE_WRITE_BELOW_BYTES) {
    // Node merges headers and a string body into a single write, which is about a seventh faster per request than a
    // vectored write of two buffers. latin1 preserves the bytes.
    res.end(pieces[0]?.toString("latin1"), "latin1");
  } else {
    res.cork();
    for (const piece of pieces) res.write(piece);
    res.end();
  }
}

/** Sends an error response. Returns the length of the body. */
export function sendError(
  res: ServerResponse,
  status: number,
  message: string,
  headers?: Record<string, string>,
): number {
  if (res.destroyed) return 0;
  const body = errorBody(status, message);
  res.writeHead(status, { ...headers, "Content-Type": MEDIA_TYPES.json, "Content-Length": body.length });
  writeBody(res, [body], body.length);
  return body.length;
}

/**
 * Writes a streamed body, through `transform` if there is one. Ignores disconnects. If the stream fails, destroys the
 * connection and rejects, since the status has already been sent.
 */
export async function writeStream(res: ServerResponse, chunks: ChunkStream, transform?: Transform): Promise<void> {
  try {
    if (transform) await pipeline(Readable.from(chunks, { objectMode: false }), transform, res);
    else await writeChunks(res, chunks);
  } catch (error) {
    const hasDisconnected = res.destroyed && errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE";
    res.destroy();
    if (!hasDisconnected) throw error;
  }
}

/** Writes chunks without using a pipeline, which would not report when a buffer can be returned to the pool. */
async function writeChunks(res: ServerResponse, chunks: ChunkStream): Promise<void> {
  const stop = () => void chunks.return();
  let pendingBytes = 0;
  res.once("close", stop);
  try {
    for await (const chunk of chunks) {
      // A chunk may be a small slice of a larger buffer.
      const { byteLength } = chunk.buffer;
      pendingBytes += byteLength;
      const hasRoom = res.write(chunk, (error) => {
        pendingBytes -= byteLength;
        if (!error) releaseBuffer(chunk);
      });
      if (!hasRoom && pendingBytes >= HIGH_WATER_BYTES) await drained(res);
    }
  } finally {
    res.off("close", stop);
  }
  if (res.destroyed) return;
  const finished = untilEither(res, "finish", "close");
  res.end();
  await finished;
}

/** Waits until the socket buffer has drained or the client has disconnected. */
function drained(res: ServerResponse): Promise<void> {
  return res.destroyed ? Promise.resolve() : untilEither(res, "drain", "close");
}

function untilEither(res: ServerResponse, ...events: [string, string]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) res.off(event, done);
      resolve();
    };
    for (const event of events) res.on(event, done);
  });
}

/**
 * Delays the end of the response. Closing the connection while the client is still sending would reset it, and the
 * client could lose the response.
 */
function lingerBeforeEnd(res: ServerResponse): void {
  const timeout = setTimeout(() => res.end(), LINGER_MILLIS);
  res.once("close", () => clearTimeout(timeout));
  // The client may only have had the end of its body left to send.
  res.req.once("end", () => res.end());
}
