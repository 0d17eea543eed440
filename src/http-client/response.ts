import { BodyStream } from "./body-stream.ts";
import type { Connection, ResponseHandler } from "./connection.ts";
import { HttpError } from "./http-error.ts";

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** Keyed by lowercase name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to the end or closed with `return()`. */
  readonly body: BodyStream;
}

/** Reads a whole body of up to `maxBytes`. */
export async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new HttpError("ERR_BODY_TOO_LARGE", `it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Turns the callbacks for one response into a promise and a stream. */
export class ResponseReceiver implements ResponseHandler {
  readonly response: Promise<HttpResponse>;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #abort = () => this.#stop(this.#signal?.reason as Error);
  #connection: Connection | undefined;
  #body: BodyStream | undefined;
  #isOver = false;

  constructor(signal: AbortSignal | undefined) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
  }

  onSent(connection: Connection): void {
    // The request was aborted while waiting for the connection.
    if (this.#isOver) connection.abort(this);
    else this.#connection = connection;
  }

  onHeaders(status: number, headers: Readonly<Record<string, string>>, statusText: string): void {
    this.#body = new BodyStream({
      pause: () => this.#connection?.pause(),
      resume: () => this.#connection?.resume(),
      stop: () => this.#stop(new HttpError("ERR_CLOSED", "the body was not read to its end")),
    });
    this.#resolve({ status, statusText, headers, body: this.#body });
  }

  onData(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onEnd(): void {
    this.#finish();
    this.#body?.end();
  }

  onError(error: Error): void {
    this.#finish();
    if (this.#body) this.#body.fail(error);
    else this.#reject(error);
  }

  #stop(error: Error): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    this.onError(error);
    connection?.abort(this);
  }

  #finish(): void {
    this.#isOver = true;
    this.#connection = undefined;
    this.#signal?.removeEventListener("abort", this.#abort);
  }
}
