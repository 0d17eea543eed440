import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { CallObserver, CallServer, ObservedCall } from "../call-observer.ts";

/** The header by which somebody who passes calls on says who has answered. */
export const UPSTREAM_HEADER = "Fanal-Upstream";

/** Takes lines that end in a line break, several at a time. */
export type WriteLines = (lines: string) => void;

/** So many characters are written at once, or whatever has come after this time. */
const BATCH_LENGTH = 32 * 1024;
const BATCH_MILLIS = 250;

const LONGEST_PATH = 200;
const UNKNOWN_METHOD = "unknown";
/** What nginx writes for a client that left before it was answered. */
const LEFT = 499;

type LogTimers = Pick<Timers, "now" | "unixNow">;

/** Tells of every request in a line of JSON, which are written in batches. */
export class AccessLog {
  readonly #write: WriteLines;
  readonly #timers: LogTimers;
  #lines = "";
  #waiting: NodeJS.Timeout | undefined;

  constructor(write: WriteLines, timers: LogTimers = SYSTEM_TIMERS) {
    this.#write = write;
    this.#timers = timers;
  }

  /** A request has come, or a message; `observer` is told of its calls as well. */
  begin(server: CallServer, socket: Socket, observer: CallObserver | undefined): AccessRecord {
    return new AccessRecord(this, this.#timers, server, socket.remoteAddress ?? "", observer);
  }

  /** Only for records. */
  add(entry: object): void {
    this.#lines += `${JSON.stringify(entry)}\n`;
    if (this.#lines.length >= BATCH_LENGTH) this.flush();
    else this.#waiting ??= setTimeout(() => this.flush(), BATCH_MILLIS).unref();
  }

  flush(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "") this.#write(lines);
  }
}

/** What is to be told of one request, from its calls and its answer. */
export class AccessRecord implements CallObserver {
  readonly #log: AccessLog;
  readonly #timers: LogTimers;
  readonly #server: CallServer;
  readonly #client: string;
  readonly #observer: CallObserver | undefined;
  readonly #began: number;
  readonly #methods = new Set<string>();
  readonly #errors: number[] = [];
  #calls = 0;
  #bytes = 0;
  #upstream: string | undefined;

  constructor(
    log: AccessLog,
    timers: LogTimers,
    server: CallServer,
    client: string,
    observer: CallObserver | undefined,
  ) {
    this.#log = log;
    this.#timers = timers;
    this.#server = server;
    this.#client = client;
    this.#observer = observer;
    this.#began = timers.now();
  }

  begin(server: CallServer, method: string | undefined): ObservedCall {
    const observed = this.#observer?.begin(server, method);
    this.#calls++;
    this.#methods.add(method ?? UNKNOWN_METHOD);
    return {
      end: (errorCode) => {
        if (errorCode !== undefined) this.#errors.push(errorCode);
        observed?.end(errorCode);
      },
      bytes: (count) => {
        this.#bytes += count;
        observed?.bytes(count);
      },
    };
  }

  /** A body that answers no call, such as a refusal or a page. */
  sent(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The headers that an answer has of its own. */
  answeredWith(headers: Readonly<Record<string, string>> | undefined): void {
    this.#upstream = headers?.[UPSTREAM_HEADER];
  }

  /** A request over HTTP is over. */
  end(res: ServerResponse): void {
    const { method, url = "" } = res.req;
    const path = url.split("?", 1)[0]!;
    const request = `${method} ${path.length <= LONGEST_PATH ? path : `${path.slice(0, LONGEST_PATH)}…`}`;
    if (res.headersSent) this.#tell({ request, status: res.statusCode, bytes: this.#bytes });
    else this.#tell({ request, status: LEFT, bytes: 0 });
  }

  /** A message that came by other means is over. */
  endMessage(): void {
    this.#tell({ bytes: this.#bytes });
  }

  #tell({ bytes, ...outcome }: { request?: string; status?: number; bytes: number }): void {
    this.#log.add({
      time: new Date(this.#timers.unixNow()).toISOString(),
      client: this.#client,
      server: this.#server,
      ...outcome,
      methods: [...this.#methods],
      ...(this.#calls > 1 && { calls: this.#calls }),
      // Those of REST are statuses.
      ...(this.#errors.length > 0 && this.#server !== "rest" && { errors: this.#errors }),
      bytes,
      millis: Math.round((this.#timers.now() - this.#began) * 1000) / 1000,
      upstream: this.#upstream,
    });
  }
}
