import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { type Failure, invalidParams } from "../../failure.ts";
import { UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { addPiece, BodyStream } from "./body-stream.ts";
import { withoutSecrets } from "./secrets.ts";

/** A body of up to this many bytes is given whole. */
export const WHOLE_BODY_BYTES = 64 * 1024;

/** What concerns a single connection, or is nobody's business but the gateway's. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "set-cookie",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Who is told how an exchange goes on. */
interface ExchangeObserver {
  /** It has begun to answer. */
  onAnswered(): void;
  /** Its reader is slower than it, so that it waits with its connection. */
  onPaused(): void;
  onResumed(): void;
  /** All of it is over: once. */
  onOver(): void;
}

/** One request to an upstream and its answer. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** Rejects with an `UpstreamError` when there is none, or with a `Failure` when nobody could be asked such a thing. */
  readonly response: Promise<UpstreamResponse>;
  readonly #upstream: string;
  readonly #observer: ExchangeObserver;
  readonly #secrets: readonly string[];
  #resolve!: (response: UpstreamResponse) => void;
  #reject!: (error: UpstreamError | Failure) => void;
  /** Undefined until the request goes out on a connection. */
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #stream: BodyStream | undefined;
  #isOver = false;

  /** None of the secrets is in an answer that is given whole. */
  constructor(upstream: string, observer: ExchangeObserver, secrets: readonly string[]) {
    this.#upstream = upstream;
    this.#observer = observer;
    this.#secrets = secrets;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Nobody waits for it any more, for a reason that is the rest of a sentence. */
  abort(reason: string): void {
    if (this.#isOver) return;
    const error = this.#error(reason);
    const controller = this.#controller;
    this.#fail(error);
    controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up while it waited for a connection.
    if (this.#isOver) controller.abort(new Error("The request was given up before it went out."));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#observer.onAnswered();
    this.#status = status;
    this.#headers = plainHeaders(headers);
    const problem = problemOf(status, this.#headers);
    if (problem !== undefined) {
      const error = this.#error(problem);
      this.#fail(error);
      controller.abort(error);
      return;
    }
    // A stream of events has no end that could be waited for.
    const isEndless = this.#headers["content-type"]?.startsWith("text/event-stream");
    if (isEndless || Number(this.#headers["content-length"]) > WHOLE_BODY_BYTES) this.#beginStream(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream) {
      this.#stream.push(chunk);
      return;
    }
    addPiece(this.#chunks, chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > WHOLE_BODY_BYTES) this.#beginStream(controller);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#stream) this.#stream.end();
    else
      this.#answer(
        withoutSecrets(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks), this.#secrets),
      );
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    if ("code" in cause && cause.code === "UND_ERR_INVALID_ARG") {
      // No upstream is to blame for it.
      this.#fail(invalidParams("The request cannot be written in HTTP.", { detail: cause.message, cause }));
      return;
    }
    this.#fail(this.#error(this.#status === 0 ? reasonOf(cause) : `broke off its answer: ${reasonOf(cause)}`, cause));
  }

  #beginStream(controller: Dispatcher.DispatchController): void {
    const stream = new BodyStream({
      pause: () => {
        controller.pause();
        this.#observer.onPaused();
      },
      resume: () => {
        this.#observer.onResumed();
        controller.resume();
      },
      stop: () => this.abort("was not read to the end"),
    });
    for (const chunk of this.#chunks) stream.push(chunk);
    this.#chunks = [];
    this.#stream = stream;
    this.#answer(stream);
  }

  #answer(body: Buffer | BodyStream): void {
    this.#resolve({ upstream: this.#upstream, status: this.#status, headers: this.#headers, body });
  }

  #fail(error: UpstreamError | Failure): void {
    if (this.#isOver) return;
    if (this.#stream) this.#stream.fail(error);
    else this.#reject(error);
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#observer.onOver();
  }

  #error(what: string, cause?: Error): UpstreamError {
    const mayHaveArrived = this.#controller !== undefined;
    return new UpstreamError(this.#upstream, `${this.#upstream} ${what}.`, { mayHaveArrived, cause });
  }
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || DROPPED_HEADERS.has(name)) continue;
    plain[name] = typeof value === "string" ? value : value.join(", ");
  }
  return plain;
}

/** What makes an answer unusable whatever its body is, as the rest of a sentence. */
function problemOf(status: number, headers: Readonly<Record<string, string>>): string | undefined {
  if (status >= 600) return `answered with the HTTP status ${status}, which there is not`;
  if (status >= 300 && status < 400) {
    return `answered with a redirect (HTTP status ${status}), which is not followed: give the URL that it leads to`;
  }
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return undefined;
  return `answered in the encoding ${JSON.stringify(encoding)}, which it was not asked for`;
}

/** Of a name with several addresses, the attempts at all of them have failed. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  switch ("code" in error ? error.code : undefined) {
    case "ECONNREFUSED":
      return "refused the connection";
    case "ENOTFOUND":
      return "has a host name that is not known";
    case "UND_ERR_CONNECT_TIMEOUT":
      return "did not take the connection in time";
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return "did not go on in time";
    case "UND_ERR_SOCKET":
    case "ECONNRESET":
    case "EPIPE":
      return "closed the connection";
    default:
      return `cannot be asked: ${error.message.replaceAll(/\s+/g, " ").replace(/[ .]+$/, "")}`;
  }
}
