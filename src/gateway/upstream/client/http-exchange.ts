import { errorCode } from "../../../errors/error-code.ts";
import { type Failure, invalidParams, overloaded } from "../../../errors/failure.ts";
import { BodyStream } from "../../../http-client/body-stream.ts";
import type { Connection, ResponseHandler } from "../../../http-client/connection.ts";
import { isConnectionLoss } from "../../../http-client/http-error.ts";
import { BudgetReservation, type ByteBudget } from "../../../server/http/request/byte-budget.ts";
import type { CallCost } from "../../../server/method-table.ts";
import { UpstreamError, type UpstreamResponse } from "../upstream-call.ts";
import { redactSecrets, SecretRedactor } from "./redact-secrets.ts";

/** Bodies up to this size are buffered. */
const MAX_BUFFERED_BYTES = 64 * 1024;
/** A larger body is streamed once this many bytes have arrived, so that its start can be checked. */
const START_BYTES = 4 * 1024;
/** Chunks beyond this number are joined, because each one has a memory overhead. */
const MAX_CHUNKS = 1024;

/**
 * Limit for bodies that must be buffered. A node accepts blocks of up to 10 MiB, which are about twice as long in JSON.
 */
const MAX_WHOLE_BYTES = 24 * 1024 * 1024;

/** A body is cut off if fewer bytes than this arrive in a period, unless its reader pauses it. */
const MIN_PERIOD_BYTES = 64 * 1024;
const PERIOD_MILLIS = 10_000;

/** Tracks the progress of exchanges. */
export interface ExchangeObserver {
  now(): number;
  /** Runs at the end of the event loop tick if other requests are pending, otherwise at once. */
  batch(run: () => void): void;
  /** The response headers have arrived. */
  onResponseStart(exchange: HttpExchange): void;
  /** The reader is slower than the upstream, so the connection is paused. */
  onPaused(exchange: HttpExchange): void;
  onResumed(exchange: HttpExchange): void;
  /** Called exactly once. */
  onDone(exchange: HttpExchange): void;
}

/** Receives either a response or a failure, once, and only after the exchange has been returned. */
export interface ExchangeListener {
  onResponse(response: UpstreamResponse): void;
  /** An `UpstreamError` if there is no response. Another failure if the request itself is invalid. */
  onFailure(error: Failure): void;
}

interface ExchangeOptions {
  readonly upstream: string;
  readonly cost: CallCost;
  readonly startedAt: number;
  readonly idempotent: boolean;
  /** Redacted in bodies. */
  readonly secrets: readonly string[];
  /** Memory for a successful body that must be buffered regardless of its size. Undefined streams large bodies. */
  readonly wholeBodyBudget?: ByteBudget | undefined;
  readonly listener: ExchangeListener;
}

/** One request to an upstream and its response. */
export class HttpExchange implements ResponseHandler {
  readonly cost: CallCost;
  readonly startedAt: number;
  readonly idempotent: boolean;
  /** When the response headers arrived. */
  respondedAt: number | undefined;
  /** True once it was cut off because its body came too slowly. */
  isTooSlow = false;
  /** True while it holds a concurrency slot of the upstream. */
  holdsSlot = false;
  /** Cancels the wait for a slot. */
  cancelWait: (() => void) | undefined;
  readonly #upstream: string;
  readonly #observer: ExchangeObserver;
  readonly #secrets: readonly string[];
  readonly #listener: ExchangeListener;
  /** Set while the request is on a connection. */
  #connection: Connection | undefined;
  #isSent = false;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  /** Chunks of a body that may still be buffered. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Start of the current period of the body, and the bytes since then. */
  #periodStart = 0;
  #periodBytes = 0;
  /** Bytes that are buffered before the body is streamed. */
  #maxBuffered = MAX_BUFFERED_BYTES;
  /** Reserves the memory of a body that is buffered regardless of its size. */
  readonly #reservation: BudgetReservation | undefined;
  #stream: BodyStream | undefined;
  /** Redacts streamed bodies, which may echo request headers. */
  #redactor: SecretRedactor | undefined;
  #isDone = false;

  constructor(
    { upstream, cost, startedAt, idempotent, secrets, wholeBodyBudget, listener }: ExchangeOptions,
    observer: ExchangeObserver,
  ) {
    this.cost = cost;
    this.startedAt = startedAt;
    this.idempotent = idempotent;
    this.#upstream = upstream;
    this.#observer = observer;
    this.#secrets = secrets;
    this.#reservation = wholeBodyBudget && new BudgetReservation(wholeBodyBudget);
    this.#listener = listener;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** True from the response headers on. */
  get hasResponse(): boolean {
    return this.respondedAt !== undefined;
  }

  /** True if a buffered body arrives at less than 64 KiB per `millis`. */
  isBodyLate(millis: number): boolean {
    if (this.respondedAt === undefined || this.#isDone) return false;
    const elapsed = this.#observer.now() - this.respondedAt;
    return elapsed > millis && this.#bytes < (elapsed / millis) * MIN_PERIOD_BYTES;
  }

  /** Cancels the exchange. The reason is a clause without a period. */
  abort(reason: string): void {
    if (!this.#isDone) this.#cancel(reason);
  }

  onSent(connection: Connection): void {
    if (this.#isDone) {
      // Aborted while it waited for the connection.
      connection.abort(this);
      return;
    }
    this.#connection = connection;
    this.#isSent = true;
  }

  onHeaders(status: number, headers: Readonly<Record<string, string>>): void {
    this.#observer.onResponseStart(this);
    this.#startPeriod();
    this.#status = status;
    this.#headers = headers;
    const problem = responseProblem(status, headers);
    if (problem !== undefined) {
      this.#cancel(problem, { isInvalidResponse: true });
      return;
    }
    // An event stream never ends.
    const isEndless = headers["content-type"]?.startsWith("text/event-stream");
    if (isEndless) this.#startStream();
    else if (this.#isWhole) this.#maxBuffered = MAX_WHOLE_BYTES;
    else if (Number(headers["content-length"]) > MAX_BUFFERED_BYTES) this.#maxBuffered = START_BYTES;
  }

  onData(chunk: Buffer): void {
    if (this.#isSlow(chunk.length)) {
      this.isTooSlow = true;
      this.#cancel(`sent less than ${MIN_PERIOD_BYTES} bytes of its response in ${PERIOD_MILLIS / 1000} s`);
      return;
    }
    if (this.#stream) {
      this.#stream.push(this.#redactor ? this.#redactor.push(chunk) : chunk);
      return;
    }
    this.#buffer(chunk);
    if (this.#bytes > this.#maxBuffered) this.#onFull();
    else if (this.#isWhole && !this.#reservation!.reserve(chunk.length)) {
      const connection = this.#connection;
      this.#fail(overloaded("The gateway has no memory for another block. Retry later."));
      connection?.abort(this);
    }
  }

  #startPeriod(): void {
    this.#periodStart = this.#observer.now();
    this.#periodBytes = 0;
  }

  /** True if too few bytes have arrived in a period that has ended. */
  #isSlow(bytes: number): boolean {
    this.#periodBytes += bytes;
    if (this.#observer.now() - this.#periodStart < PERIOD_MILLIS) return false;
    if (this.#periodBytes < MIN_PERIOD_BYTES) return true;
    this.#startPeriod();
    return false;
  }

  /** True if the body is buffered regardless of its size. */
  get #isWhole(): boolean {
    return this.#reservation !== undefined && this.#status === 200;
  }

  #onFull(): void {
    if (this.#isWhole) this.#cancel(`answered with more than ${MAX_WHOLE_BYTES} bytes`, { isInvalidResponse: true });
    else this.#startStream();
  }

  onEnd(): void {
    if (this.#isDone) return;
    if (this.#stream) {
      if (this.#redactor) this.#stream.push(this.#redactor.end());
      this.#stream.end();
    } else this.#observer.batch(() => this.#respond(redactSecrets(concat(this.#chunks), this.#secrets)));
    this.#finish();
  }

  onError(cause: Error): void {
    const code = errorCode(cause);
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
      // The request is invalid for every upstream.
      this.#fail(invalidParams("The request cannot be sent over HTTP.", { detail: cause.message }));
      return;
    }
    const reason = this.#status === 0 ? reasonOf(cause) : `closed the response early: ${reasonOf(cause)}`;
    this.#fail(this.#error(reason, { cause }));
  }

  #buffer(piece: Buffer): void {
    this.#chunks.push(piece);
    this.#bytes += piece.length;
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [concat(this.#chunks)];
  }

  #cancel(reason: string, options?: { isInvalidResponse: boolean }): void {
    const connection = this.#connection;
    this.#fail(this.#error(reason, options));
    connection?.abort(this);
  }

  #startStream(): void {
    const stream = new BodyStream({
      pause: () => {
        this.#connection?.pause();
        this.#observer.onPaused(this);
      },
      resume: () => {
        this.#observer.onResumed(this);
        this.#startPeriod();
        this.#connection?.resume();
      },
      stop: () => this.abort("was cancelled before its response ended"),
    });
    if (this.#secrets.length > 0) this.#redactor = new SecretRedactor(this.#secrets);
    const buffered = this.#chunks.length === 0 ? undefined : concat(this.#chunks);
    const start = buffered && this.#redactor ? this.#redactor.push(buffered) : buffered;
    if (start) stream.push(start);
    this.#chunks = [];
    this.#stream = stream;
    queueMicrotask(() => this.#respond(stream, start));
  }

  #respond(body: Buffer | BodyStream, start?: Buffer): void {
    const response = { upstream: this.#upstream, status: this.#status, headers: this.#headers, body };
    this.#listener.onResponse(start === undefined ? response : { ...response, start });
  }

  #fail(error: Failure): void {
    if (this.#isDone) return;
    if (this.#stream) this.#stream.fail(error);
    else queueMicrotask(() => this.#listener.onFailure(error));
    this.#finish();
  }

  #finish(): void {
    this.#isDone = true;
    this.#connection = undefined;
    this.#reservation?.releaseAll();
    this.#observer.onDone(this);
  }

  #error(what: string, options?: { isInvalidResponse?: boolean; cause?: Error }): UpstreamError {
    const message = `${this.#upstream} ${what}.`;
    return new UpstreamError(this.#upstream, message, { mayHaveArrived: this.#isSent, ...options });
  }
}

function concat(pieces: Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** Returns why the status or headers of a response are invalid, as a clause. */
function responseProblem(status: number, headers: Readonly<Record<string, string>>): string | undefined {
  if (status >= 600) return `answered with invalid HTTP status ${status}`;
  if (status === 304) return "answered with HTTP status 304 to an unconditional request";
  if (status >= 300 && status < 400) {
    return `answered with a redirect (HTTP status ${status}). Redirects are not followed: configure the target URL`;
  }
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return undefined;
  return `answered with content encoding ${JSON.stringify(encoding)}, which was not requested`;
}

/** Describes an error as a clause about the upstream. A host name with several addresses has one error for each. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(", ");
  if (isConnectionLoss(error)) return "closed the connection";
  switch (errorCode(error)) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return "did not accept the connection in time";
    case "UND_ERR_HEADERS_TIMEOUT":
      return "sent no response headers in time";
    case "UND_ERR_BODY_TIMEOUT":
      return "stalled in the response body";
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      return "sent a body that does not match its Content-Length";
    case "ECONNREFUSED":
      return "refused the connection";
    case "ENOTFOUND":
      return "has an unknown host name";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "does not support TLS: its URL may have to start with http://";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return "has an untrusted certificate: set NODE_EXTRA_CA_CERTS to that of its CA";
    default:
      return `cannot be reached: ${error.message.replaceAll(/\s+/g, " ").replace(/[ .]+$/, "")}`;
  }
}
