import { type Failure, invalidParams } from "../../errors/failure.ts";
import { BodyStream } from "../../http-client/body-stream.ts";
import type { Connection, ResponseHandler } from "../../http-client/connection.ts";
import { isConnectionLoss } from "../../http-client/http-error.ts";
import type { Cost } from "../../server/method-table.ts";
import { UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { PiecesWithoutSecrets, withoutSecrets } from "./secrets.ts";

/** A body of up to this many bytes is given whole. */
export const WHOLE_BODY_BYTES = 64 * 1024;
/** Pieces beyond so many are joined: each takes more memory than its bytes when an upstream sends them one by one. */
const MOST_PIECES = 1024;

/** Who is told how exchanges go on. */
export interface ExchangeObserver {
  /** Does something together with what is to be done for the others that are under way, and at once when there are none. */
  together(run: () => void): void;
  /** It has begun to answer. */
  onAnswered(exchange: HttpExchange): void;
  /** Its reader is slower than it, so that it waits with its connection. */
  onPaused(exchange: HttpExchange): void;
  onResumed(exchange: HttpExchange): void;
  /** All of it is over: once. */
  onOver(exchange: HttpExchange): void;
}

/** Who waits for an answer: is told one of both, once, and never before the exchange has been given to him. */
export interface ExchangeListener {
  onResponse(response: UpstreamResponse): void;
  /** An `UpstreamError` when there is no answer; another when nobody could be asked such a thing. */
  onFailure(error: Failure): void;
}

interface ExchangeFacts {
  readonly upstream: string;
  readonly cost: Cost;
  readonly began: number;
  readonly idempotent: boolean;
  /** None of them is in an answer that is given whole, nor in a refusal. */
  readonly secrets: readonly string[];
  readonly listener: ExchangeListener;
}

/** One request to an upstream and its answer. */
export class HttpExchange implements ResponseHandler {
  readonly cost: Cost;
  readonly began: number;
  readonly idempotent: boolean;
  /** Whether its answer has begun. */
  isAnswered = false;
  /** Whether it takes one of the turns of those that are asked. */
  hasTurn = false;
  /** Ends its waiting for one. */
  leaveTurns: (() => void) | undefined;
  readonly #upstream: string;
  readonly #observer: ExchangeObserver;
  readonly #secrets: readonly string[];
  readonly #listener: ExchangeListener;
  /** Undefined until the request goes out on one, and when it is over. */
  #connection: Connection | undefined;
  #isSent = false;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  /** What has come of a body that may be given whole. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #stream: BodyStream | undefined;
  /** Of a long refusal, which may repeat what was sent; results are too long to be looked through. */
  #concealing: PiecesWithoutSecrets | undefined;
  #isOver = false;

  constructor({ upstream, cost, began, idempotent, secrets, listener }: ExchangeFacts, observer: ExchangeObserver) {
    this.cost = cost;
    this.began = began;
    this.idempotent = idempotent;
    this.#upstream = upstream;
    this.#observer = observer;
    this.#secrets = secrets;
    this.#listener = listener;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nobody waits for it any more, for a reason that is the rest of a sentence. */
  abort(reason: string): void {
    if (!this.#isOver) this.#giveUp(reason);
  }

  onSent(connection: Connection): void {
    if (this.#isOver) {
      // Aborted while it waited for the connection.
      connection.abort(this);
      return;
    }
    this.#connection = connection;
    this.#isSent = true;
  }

  onHeaders(status: number, headers: Readonly<Record<string, string>>): void {
    this.#observer.onAnswered(this);
    this.#status = status;
    this.#headers = headers;
    const problem = problemOf(status, headers);
    if (problem !== undefined) {
      this.#giveUp(problem, { isOfAnswer: true });
      return;
    }
    // A stream of events has no end that could be waited for.
    const isEndless = headers["content-type"]?.startsWith("text/event-stream");
    if (isEndless || Number(headers["content-length"]) > WHOLE_BODY_BYTES) this.#beginStream();
  }

  onData(chunk: Buffer): void {
    if (this.#stream) {
      this.#stream.push(this.#concealing ? this.#concealing.push(chunk) : chunk);
      return;
    }
    this.#hold(chunk);
    if (this.#bytes > WHOLE_BODY_BYTES) this.#beginStream();
  }

  onEnd(): void {
    if (this.#isOver) return;
    if (this.#stream) {
      if (this.#concealing) this.#stream.push(this.#concealing.end());
      this.#stream.end();
    } else this.#observer.together(() => this.#answer(withoutSecrets(joined(this.#chunks), this.#secrets)));
    this.#finish();
  }

  onError(cause: Error): void {
    if ("code" in cause && (cause.code === "UND_ERR_INVALID_ARG" || cause.code === "UND_ERR_NOT_SUPPORTED")) {
      // No upstream is to blame for it.
      this.#fail(invalidParams("The request cannot be written in HTTP.", { detail: cause.message }));
      return;
    }
    const reason = this.#status === 0 ? reasonOf(cause) : `broke off its answer: ${reasonOf(cause)}`;
    this.#fail(this.#error(reason, { cause }));
  }

  #hold(piece: Buffer): void {
    this.#chunks.push(piece);
    this.#bytes += piece.length;
    if (this.#chunks.length > MOST_PIECES) this.#chunks = [joined(this.#chunks)];
  }

  #giveUp(reason: string, options?: { isOfAnswer: boolean }): void {
    const connection = this.#connection;
    this.#fail(this.#error(reason, options));
    connection?.abort(this);
  }

  #beginStream(): void {
    const stream = new BodyStream({
      pause: () => {
        this.#connection?.pause();
        this.#observer.onPaused(this);
      },
      resume: () => {
        this.#observer.onResumed(this);
        this.#connection?.resume();
      },
      stop: () => this.abort("was not read to the end"),
    });
    if (this.#status >= 400 && this.#secrets.length > 0) this.#concealing = new PiecesWithoutSecrets(this.#secrets);
    for (const chunk of this.#chunks) stream.push(this.#concealing ? this.#concealing.push(chunk) : chunk);
    this.#chunks = [];
    this.#stream = stream;
    queueMicrotask(() => this.#answer(stream));
  }

  #answer(body: Buffer | BodyStream): void {
    this.#listener.onResponse({ upstream: this.#upstream, status: this.#status, headers: this.#headers, body });
  }

  #fail(error: Failure): void {
    if (this.#isOver) return;
    if (this.#stream) this.#stream.fail(error);
    else queueMicrotask(() => this.#listener.onFailure(error));
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#connection = undefined;
    this.#observer.onOver(this);
  }

  #error(what: string, options?: { isOfAnswer?: boolean; cause?: Error }): UpstreamError {
    const message = `${this.#upstream} ${what}.`;
    return new UpstreamError(this.#upstream, message, { mayHaveArrived: this.#isSent, ...options });
  }
}

function joined(pieces: Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** What makes an answer unusable whatever its body is, as the rest of a sentence. */
function problemOf(status: number, headers: Readonly<Record<string, string>>): string | undefined {
  if (status >= 600) return `answered with the HTTP status ${status}, which there is not`;
  if (status === 304) return "answered that nothing has changed (HTTP status 304), which it was not asked";
  if (status >= 300 && status < 400) {
    return `answered with a redirect (HTTP status ${status}), which is not followed: give the URL that it leads to`;
  }
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return undefined;
  return `answered in the encoding ${JSON.stringify(encoding)}, which it was not asked for`;
}

/** A clause about the upstream. A name with several addresses has one error for each. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(", ");
  if (isConnectionLoss(error)) return "closed the connection";
  switch ("code" in error ? error.code : undefined) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return "did not accept the connection in time";
    case "UND_ERR_HEADERS_TIMEOUT":
      return "sent no response headers in time";
    case "UND_ERR_BODY_TIMEOUT":
      return "sent no more of the response body in time";
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      return "sent another number of bytes than it announced";
    case "ECONNREFUSED":
      return "refused the connection";
    case "ENOTFOUND":
      return "has a host name that is not known";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "does not speak TLS, so that its URL may have to begin with http://";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return "has a certificate of nobody who is trusted: give that of its CA in NODE_EXTRA_CA_CERTS";
    default:
      return `cannot be asked: ${error.message.replaceAll(/\s+/g, " ").replace(/[ .]+$/, "")}`;
  }
}
