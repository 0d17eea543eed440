import type { ServerResponse } from "node:http";
import { BudgetShare, type ByteBudget, HELD_FROM_BYTES, PIECE_OVERHEAD_BYTES } from "../http/exchanges.ts";
import { type Feed, type StreamEvent, TOO_MANY_READERS } from "./feed.ts";

export interface EventStreamLimits {
  streams: number;
  /** How far a reader may fall behind the events. */
  bufferBytes: number;
  /** How often a reader that nothing happens for is shown that the stream is alive. */
  keepAliveMillis: number;
  /** How long a reader that was told that it is too slow may take to read that. */
  leaveMillis: number;
  /** How long a reader may take for what it has not read when all streams are closed. */
  closeMillis: number;
}

/** Events over HTTP, as text/event-stream (HTML standard, section 9.2, server-sent events). */
interface EventStreams {
  /** Whether another stream may be served; a refusal is the caller's to send. */
  readonly hasRoom: boolean;
  /** Answers with what the feed delivers, until the reader leaves, is too slow, or the streams are closed; tells `sent` of all its bytes. */
  serve(feed: Feed, res: ServerResponse, sent?: (bytes: number) => void): void;
  /** Ends all streams. */
  close(): void;
}

const DEFAULT_LIMITS: EventStreamLimits = {
  streams: 10_000,
  bufferBytes: 8 * 1024 * 1024,
  keepAliveMillis: 15_000,
  leaveMillis: 30_000,
  closeMillis: 2_000,
};

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // Proxies such as nginx would hold back what they have not enough of.
  "X-Accel-Buffering": "no",
};

/** A comment: every reader skips it. */
const KEEP_ALIVE = Buffer.from(":\n\n");

/** `unread` is what all readers, and those of other answers, may leave unread together. */
export function createEventStreams(unread: ByteBudget, given: Partial<EventStreamLimits> = {}): EventStreams {
  const limits = { ...DEFAULT_LIMITS, ...given };
  /** The open streams with what ends their feeds, and who is told of their bytes. */
  const streams = new Map<ServerResponse, { end: () => void; sent: ((bytes: number) => void) | undefined }>();
  /** Those that have got their last bytes, but may not have read them. */
  const leaving = new Set<ServerResponse>();
  const frameOf = createFramer();
  const tooSlow = tooSlowFrame(limits.bufferBytes);
  const keepAlive = setInterval(() => {
    // Who has something left to read needs no more.
    for (const res of streams.keys()) if (res.writableLength === 0) write(res, KEEP_ALIVE);
  }, limits.keepAliveMillis);
  keepAlive.unref();
  let isClosed = false;

  function write(res: ServerResponse, bytes: Buffer, whenRead?: () => void): void {
    streams.get(res)?.sent?.(bytes.length);
    res.write(bytes, whenRead);
  }

  function deliver(res: ServerResponse, share: BudgetShare, event: StreamEvent): void {
    const frame = frameOf(event);
    const bytes = frame.length + PIECE_OVERHEAD_BYTES;
    // Who is hardly behind gets the next event, however much others have not read.
    if (res.writableLength + frame.length < Math.min(HELD_FROM_BYTES, limits.bufferBytes)) write(res, frame);
    else if (res.writableLength + frame.length > limits.bufferBytes || !share.take(bytes)) cut(res, tooSlow);
    else write(res, frame, () => share.giveBack(bytes));
  }

  function cut(res: ServerResponse, why: Buffer): void {
    streams.get(res)?.sent?.(why.length);
    forget(res);
    res.end(why);
    leaving.add(res);
    destroyAfter(res, limits.leaveMillis);
  }

  function forget(res: ServerResponse): void {
    streams.get(res)?.end();
    streams.delete(res);
    leaving.delete(res);
  }

  return {
    get hasRoom() {
      return streams.size < limits.streams;
    },
    serve(feed, res, sent) {
      res.writeHead(200, HEADERS);
      // The reader learns at once that the stream is open, however long nothing happens.
      res.flushHeaders();
      if (isClosed || res.destroyed) {
        res.end();
        return;
      }
      const share = new BudgetShare(unread);
      const end = feed.open({ deliver: (event) => deliver(res, share, event), cutOff: () => cut(res, TOO_MANY) });
      streams.set(res, { end, sent });
      res.once("close", () => {
        forget(res);
        share.giveBackAll();
      });
      res.on("error", () => forget(res));
    },
    close() {
      isClosed = true;
      clearInterval(keepAlive);
      for (const res of leaving) destroyAfter(res, limits.closeMillis);
      for (const res of streams.keys()) {
        forget(res);
        res.end();
        destroyAfter(res, limits.closeMillis);
      }
    },
  };
}

/** Unless its reader has read everything before. */
function destroyAfter(res: ServerResponse, millis: number): void {
  const impatience = setTimeout(() => res.destroy(), millis);
  res.once("close", () => clearTimeout(impatience));
}

/** An event goes to all its readers before the next one, so only the last frame is worth keeping. */
function createFramer(): (event: StreamEvent) => Buffer {
  let last: { event: StreamEvent; frame: Buffer } | undefined;
  return (event) => {
    if (last?.event !== event) last = { event, frame: frameText(event.topic, event.data) };
    return last.frame;
  };
}

const TOO_MANY = errorFrame(TOO_MANY_READERS);

function tooSlowFrame(bufferBytes: number): Buffer {
  return errorFrame(
    `The events were read too slowly: more than ${bufferBytes} bytes of them waited for this connection.`,
  );
}

function errorFrame(message: string): Buffer {
  return frameText("error", Buffer.from(JSON.stringify({ code: 503, message })));
}

/** JSON has no line breaks of its own, so one data line holds it. */
function frameText(topic: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`event: ${topic}\ndata: `), data, Buffer.from("\n\n")]);
}
