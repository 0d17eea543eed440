import type { ServerResponse } from "node:http";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { truncate } from "../../errors/truncate.ts";
import type { CallObserver, CallServer, ObservedCall } from "../call-observer.ts";
import type { RequestTrace } from "../request-trace.ts";

/** Response header with the name of the upstream that answered. */
export const UPSTREAM_HEADER = "Fanal-Upstream";

/** Writes one or more complete lines. */
export type WriteLines = (lines: string) => void;

/** Buffered lines are flushed when they reach this length, or this long after the first one. */
const BATCH_LENGTH = 32 * 1024;
const BATCH_MILLIS = 250;

const MAX_PATH_LENGTH = 200;
const UNKNOWN_METHOD = "unknown";
/** The status that nginx logs if the client closes the connection before the response. */
const CLIENT_CLOSED_REQUEST = 499;

type LogTimers = Pick<Timers, "now" | "unixNow">;

/** Writes one JSON line per request, in batches. */
export class AccessLog {
  readonly #write: WriteLines;
  readonly #timers: LogTimers;
  #lines = "";
  #flushTimer: NodeJS.Timeout | undefined;

  constructor(write: WriteLines, timers: LogTimers = SYSTEM_TIMERS) {
    this.#write = write;
    this.#timers = timers;
  }

  /** Starts the log entry for a request or a WebSocket message. Its calls are also reported to `observer`. */
  begin(
    server: CallServer,
    client: string,
    observer: CallObserver | undefined,
    loggedUrl?: (url: string) => string,
  ): AccessRecord {
    return new AccessRecord(this, this.#timers, server, client, observer, loggedUrl);
  }

  /** Adds an entry. Called by `AccessRecord`. */
  add(entry: object): void {
    this.#lines += `${JSON.stringify(entry)}\n`;
    if (this.#lines.length >= BATCH_LENGTH) this.flush();
    else this.#flushTimer ??= setTimeout(() => this.flush(), BATCH_MILLIS).unref();
  }

  flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "") this.#write(lines);
  }
}

/** Builds the log entry for a request from its calls and its response. */
export class AccessRecord implements CallObserver {
  readonly #log: AccessLog;
  readonly #timers: LogTimers;
  readonly #server: CallServer;
  readonly #client: string;
  readonly #observer: CallObserver | undefined;
  readonly #loggedUrl: (url: string) => string;
  readonly #startedAt: number;
  readonly #methods = new Set<string>();
  readonly #errors: number[] = [];
  #calls = 0;
  #bytes = 0;
  #upstream: string | undefined;
  #key: string | undefined;
  #queueMillis: number | undefined;
  #trace: RequestTrace | undefined;

  constructor(
    log: AccessLog,
    timers: LogTimers,
    server: CallServer,
    client: string,
    observer: CallObserver | undefined,
    loggedUrl = (url: string) => url,
  ) {
    this.#log = log;
    this.#loggedUrl = loggedUrl;
    this.#timers = timers;
    this.#server = server;
    this.#client = client;
    this.#observer = observer;
    this.#startedAt = timers.now();
  }

  begin(server: CallServer, method: string | undefined): ObservedCall {
    const observedCall = this.#observer?.begin(server, method);
    this.#calls++;
    this.#methods.add(method ?? UNKNOWN_METHOD);
    return {
      end: (errorCode) => {
        if (errorCode !== undefined) this.#errors.push(errorCode);
        observedCall?.end(errorCode);
      },
      bytes: (count) => {
        this.#bytes += count;
        observedCall?.bytes(count);
      },
    };
  }

  /** Counts bytes of a body that does not belong to a call, such as an error or a web page. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Sets the name of the client's key. */
  setKey(name: string): void {
    this.#key = name;
  }

  /** Sets the trace context, which also records the time spent in caches and waiting for upstreams. */
  setTrace(trace: RequestTrace | undefined): void {
    this.#trace = trace;
  }

  /** Marks the start of processing, when the body has arrived and earlier requests are done. */
  markStarted(): void {
    this.#queueMillis ??= this.#timers.now() - this.#startedAt;
  }

  /** Reads the name of the upstream from the response headers. */
  setResponseHeaders(headers: Readonly<Record<string, string>> | undefined): void {
    this.#upstream = headers?.[UPSTREAM_HEADER];
  }

  /** Ends the entry for an HTTP request. */
  end(res: ServerResponse): void {
    const { method, url = "" } = res.req;
    const path = this.#loggedUrl(url.split("?", 1)[0]!);
    const request = `${method} ${truncate(path, MAX_PATH_LENGTH)}`;
    if (res.headersSent) this.#write({ request, status: res.statusCode, bytes: this.#bytes });
    else this.#write({ request, status: CLIENT_CLOSED_REQUEST, bytes: 0 });
  }

  /** Ends the entry for a WebSocket message. */
  endMessage(): void {
    this.#write({ bytes: this.#bytes });
  }

  #write({ bytes, ...outcome }: { request?: string; status?: number; bytes: number }): void {
    this.#log.add({
      time: new Date(this.#timers.unixNow()).toISOString(),
      client: this.#client,
      key: this.#key,
      server: this.#server,
      ...outcome,
      methods: [...this.#methods],
      ...(this.#calls > 1 && { calls: this.#calls }),
      // In REST, error codes are the same as the status.
      ...(this.#errors.length > 0 && this.#server !== "rest" && { errors: this.#errors }),
      bytes,
      millis: rounded(this.#timers.now() - this.#startedAt),
      queueMillis: rounded(this.#queueMillis),
      cacheMillis: rounded(this.#trace?.cacheMillis),
      upstreamMillis: rounded(this.#trace?.upstreamMillis),
      upstream: this.#upstream,
      // The second field of `traceparent` is the trace id.
      trace: this.#trace?.traceparent?.split("-")[1],
    });
  }
}

/** Rounds to microseconds. */
function rounded(millis: number | undefined): number | undefined {
  return millis === undefined ? undefined : Math.round(millis * 1000) / 1000;
}
