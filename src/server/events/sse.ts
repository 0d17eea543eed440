import type { ServerResponse } from "node:http";
import type { RevocationReason } from "../http/access/api-clients.ts";
import {
  BUFFERED_FROM_BYTES,
  BudgetReservation,
  type ByteBudget,
  PIECE_OVERHEAD_BYTES,
} from "../http/request/byte-budget.ts";
import { type Feed, OVERLOAD_MESSAGE, type StreamEvent } from "./feed.ts";

export interface EventStreamLimits {
  streams: number;
  /** Maximum number of unread bytes per stream. */
  bufferBytes: number;
  /** Interval between keep-alive comments on idle streams. */
  keepAliveMillis: number;
  /** How long a slow reader may take to read the error at the end of its stream. */
  disconnectMillis: number;
  /** How long readers may take to read pending data when the server is closing. */
  closeMillis: number;
}

interface StreamOptions {
  sent?: ((bytes: number) => void) | undefined;
  revocationReason?: RevocationReason | undefined;
}

/** Server-sent events, as text/event-stream (HTML Standard, section 9.2). */
interface EventStreams {
  /** False once the maximum number of streams is reached, in which case the caller sends an error. */
  readonly hasRoom: boolean;
  /**
   * Streams events from the feed until the client disconnects or falls behind, or the server closes. Reports the number
   * of bytes sent to `sent`.
   */
  serve(feed: Feed, res: ServerResponse, options?: StreamOptions): void;
  /** Sends an error to clients whose access was revoked and ends their streams. Returns the number of these streams. */
  closeRevoked(): number;
  /** Ends all streams. */
  close(): void;
}

const DEFAULT_LIMITS: EventStreamLimits = {
  streams: 10_000,
  bufferBytes: 8 * 1024 * 1024,
  keepAliveMillis: 15_000,
  disconnectMillis: 30_000,
  closeMillis: 2_000,
};

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // Disables buffering by proxies such as nginx.
  "X-Accel-Buffering": "no",
};

/** A comment, which readers ignore. */
const KEEP_ALIVE = Buffer.from(":\n\n");

/** Creates a server's event streams. `unread` is the budget for unread data of all clients. */
export function createEventStreams(unread: ByteBudget, overrides: Partial<EventStreamLimits> = {}): EventStreams {
  const limits = { ...DEFAULT_LIMITS, ...overrides };
  /** Open streams. `end` closes the feed. */
  const streams = new Map<ServerResponse, StreamOptions & { end: () => void }>();
  /** Streams that have ended but whose clients may still have data to read. */
  const leaving = new Set<ServerResponse>();
  const frameOf = createFramer();
  const tooSlow = tooSlowFrame(limits.bufferBytes);
  const keepAlive = setInterval(() => {
    // Streams with unread data are skipped.
    for (const res of streams.keys()) if (res.writableLength === 0) write(res, KEEP_ALIVE);
  }, limits.keepAliveMillis);
  keepAlive.unref();
  let isClosed = false;

  function write(res: ServerResponse, bytes: Buffer, whenRead?: () => void): void {
    streams.get(res)?.sent?.(bytes.length);
    res.write(bytes, whenRead);
  }

  function deliver(res: ServerResponse, share: BudgetReservation, event: StreamEvent): void {
    const frame = frameOf(event);
    const bytes = frame.length + PIECE_OVERHEAD_BYTES;
    // The shared limit does not apply to readers with little unread data.
    if (res.writableLength + frame.length < Math.min(BUFFERED_FROM_BYTES, limits.bufferBytes)) write(res, frame);
    else if (res.writableLength + frame.length > limits.bufferBytes || !share.reserve(bytes)) disconnect(res, tooSlow);
    else write(res, frame, () => share.release(bytes));
  }

  function disconnect(res: ServerResponse, why: Buffer): void {
    streams.get(res)?.sent?.(why.length);
    remove(res);
    res.end(why);
    leaving.add(res);
    destroyAfter(res, limits.disconnectMillis);
  }

  function disconnectIfRevoked(res: ServerResponse, { revocationReason }: StreamOptions): boolean {
    const reason = revocationReason?.();
    if (reason !== undefined) disconnect(res, errorFrame(401, reason));
    return reason !== undefined;
  }

  function remove(res: ServerResponse): void {
    streams.get(res)?.end();
    streams.delete(res);
    leaving.delete(res);
  }

  return {
    get hasRoom() {
      return streams.size < limits.streams;
    },
    serve(feed, res, options = {}) {
      res.writeHead(200, HEADERS);
      // Sends the headers immediately, before the first event.
      res.flushHeaders();
      if (isClosed || res.destroyed) {
        res.end();
        return;
      }
      const share = new BudgetReservation(unread);
      const end = feed.open({
        deliver: (event) => deliver(res, share, event),
        disconnect: () => disconnect(res, OVERLOAD_FRAME),
      });
      streams.set(res, { ...options, end });
      disconnectIfRevoked(res, options);
      res.once("close", () => {
        remove(res);
        share.releaseAll();
      });
      res.on("error", () => remove(res));
    },
    closeRevoked() {
      let closed = 0;
      for (const [res, options] of streams) if (disconnectIfRevoked(res, options)) closed++;
      return closed;
    },
    close() {
      isClosed = true;
      clearInterval(keepAlive);
      for (const res of leaving) destroyAfter(res, limits.closeMillis);
      for (const res of streams.keys()) {
        remove(res);
        res.end();
        destroyAfter(res, limits.closeMillis);
      }
    },
  };
}

/** Destroys the connection unless all data has been read before the timeout. */
function destroyAfter(res: ServerResponse, millis: number): void {
  const timeout = setTimeout(() => res.destroy(), millis);
  res.once("close", () => clearTimeout(timeout));
}

/**
 * Creates an encoder that caches the last frame, since each event is delivered to all readers before the next event.
 */
function createFramer(): (event: StreamEvent) => Buffer {
  let last: { event: StreamEvent; frame: Buffer } | undefined;
  return (event) => {
    if (last?.event !== event) last = { event, frame: encodeFrame(event.topic, event.data) };
    return last.frame;
  };
}

const OVERLOAD_FRAME = errorFrame(503, OVERLOAD_MESSAGE);

function tooSlowFrame(bufferBytes: number): Buffer {
  return errorFrame(503, `The client reads too slowly: more than ${bufferBytes} bytes of events are unread.`);
}

function errorFrame(code: number, message: string): Buffer {
  return encodeFrame("error", Buffer.from(JSON.stringify({ code, message })));
}

/** Encodes a frame. JSON contains no line breaks, so it fits in a single data line. */
function encodeFrame(topic: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`event: ${topic}\ndata: `), data, Buffer.from("\n\n")]);
}
