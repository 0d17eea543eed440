import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import { OperationalError } from "../errors/operational-error.ts";
import type { BodyStream } from "../http-client/body-stream.ts";
import { HttpClient } from "../http-client/http-client.ts";
import { messageOf } from "../http-client/http-error.ts";

/** Beyond every answer that is asked for: 128 blobs with their cell proofs have 36 MB in hexadecimal. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than a slot: a connection that the server closes meanwhile shows that it may have been restarted. */
const IDLE_TIMEOUT_MS = 600_000;

/** How much of a text that is no answer is shown, and how much of what a server says of an error. */
const SHOWN_CHARACTERS = 80;
const SHOWN_OF_ERROR = 300;

/** Why there is no answer. "unauthorized": the server refuses the caller, whatever it asks. */
type JsonRpcFailureKind = "unreachable" | "timeout" | "unauthorized" | "unusable" | "ended";

/** There is no answer that can be used. A whole sentence. */
export class JsonRpcFailure extends OperationalError {
  readonly kind: JsonRpcFailureKind;

  constructor(kind: JsonRpcFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "JsonRpcFailure";
    this.kind = kind;
  }
}

/** The server answered with an error. A whole sentence. */
export class JsonRpcRefusal extends OperationalError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "JsonRpcRefusal";
    this.code = code;
  }
}

interface JsonRpcClientOptions {
  url: string;
  /** Asked for every request anew. */
  headers?: () => Readonly<Record<string, string>>;
  maxAnswerBytes?: number;
  /** Called when a new connection has replaced one that the server closed: it may be another server. */
  onReconnect?: () => void;
  timers?: Pick<Timers, "sleep">;
}

interface CallOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

interface HttpAnswer {
  status: number;
  body: string;
}

/** Calls the methods of a JSON-RPC server over HTTP, on connections that stay open in between. */
export class JsonRpcClient {
  /** The server without what a URL may hold of secrets. */
  readonly origin: string;
  readonly #path: string;
  readonly #http: HttpClient;
  readonly #headers: () => Readonly<Record<string, string>>;
  readonly #maxAnswerBytes: number;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #closed = new AbortController();
  #lastId = 0;

  constructor({ url, headers, maxAnswerBytes, onReconnect, timers }: JsonRpcClientOptions) {
    const { origin, pathname, search } = new URL(url);
    this.origin = origin;
    this.#path = `${pathname}${search}`;
    // The timeout of each call covers headers and body.
    this.#http = new HttpClient(url, {
      headers: { "content-type": "application/json", accept: "application/json" },
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs: 0,
      bodyTimeoutMs: 0,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      onReconnect,
    });
    this.#headers = headers ?? (() => ({}));
    this.#maxAnswerBytes = maxAnswerBytes ?? MAX_ANSWER_BYTES;
    this.#timers = timers ?? SYSTEM_TIMERS;
  }

  /** The result. Rejects with a `JsonRpcRefusal` when the server answers with an error, otherwise with a `JsonRpcFailure`. */
  async call(method: string, params: readonly unknown[], { timeoutMs, signal }: CallOptions): Promise<unknown> {
    const id = ++this.#lastId;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const late = new AbortController();
    const done = new AbortController();
    const ends = [late.signal, this.#closed.signal, ...(signal ? [signal] : [])];
    this.#timers.sleep(timeoutMs, done.signal).then(
      () => late.abort(),
      () => {},
    );
    let answer: HttpAnswer;
    try {
      answer = await this.#exchange(body, AbortSignal.any(ends));
    } catch (error) {
      if (late.signal.aborted) {
        throw new JsonRpcFailure("timeout", `${this.origin} did not answer ${method} within ${timeoutMs / 1000} s.`);
      }
      if (ends.some(({ aborted }) => aborted)) {
        throw new JsonRpcFailure("ended", `${method} of ${this.origin} is not waited for any more.`, error);
      }
      if (error instanceof UnusableAnswer) throw this.#unusable(method, error.message);
      throw new JsonRpcFailure("unreachable", `${this.origin} cannot be asked ${method}: ${messageOf(error)}.`, error);
    } finally {
      done.abort();
    }
    return this.#result(method, id, answer);
  }

  /** Ends the calls under way and the connections. */
  close(): void {
    this.#closed.abort();
    this.#http.close();
  }

  async #exchange(body: string, signal: AbortSignal): Promise<HttpAnswer> {
    const request = { method: "POST", path: this.#path, headers: this.#headers(), body } as const;
    const { status, body: stream } = await this.#http.request(request, { signal });
    return { status, body: await this.#read(stream) };
  }

  async #read(body: BodyStream): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of body) {
        size += chunk.length;
        if (size > this.#maxAnswerBytes) throw new UnusableAnswer(`it has more than ${this.#maxAnswerBytes} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof UnusableAnswer) throw error;
      throw new UnusableAnswer(`it broke off after ${size} bytes`);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #result(method: string, id: number, { status, body }: HttpAnswer): unknown {
    if (status === 401 || status === 403) {
      throw new JsonRpcFailure("unauthorized", `${this.origin} refuses ${method} with the HTTP status ${status}.`);
    }
    const answer = parseAnswer(body);
    if (answer?.jsonrpc !== "2.0" || (answer.id !== id && answer.id !== null)) {
      const shown = JSON.stringify(body.slice(0, SHOWN_CHARACTERS));
      throw this.#unusable(method, `HTTP status ${status} with ${shown}, which is no JSON-RPC answer to it`);
    }
    if (isError(answer.error)) {
      const { code, message, data } = answer.error;
      const said = `${message}${detail(data)}`.slice(0, SHOWN_OF_ERROR);
      throw new JsonRpcRefusal(code, `${this.origin} refuses ${method}: ${said} (code ${code}).`);
    }
    if (answer.id === id && answer.result !== undefined) return answer.result;
    throw this.#unusable(method, "it has neither a result nor an error");
  }

  #unusable(method: string, what: string): JsonRpcFailure {
    return new JsonRpcFailure("unusable", `${this.origin} gave no usable answer to ${method}: ${what}.`);
  }
}

/** What is wrong with an answer, as a clause. */
class UnusableAnswer extends Error {}

/** The members of an answer, of which nothing is known yet; null for what is not an object. */
function parseAnswer(text: string): { jsonrpc?: unknown; id?: unknown; result?: unknown; error?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function isError(value: unknown): value is { code: number; message: string; data?: unknown } {
  if (typeof value !== "object" || value === null || !("code" in value) || !("message" in value)) return false;
  return Number.isSafeInteger(value.code) && typeof value.message === "string";
}

/** The Engine API puts what is behind a general message into `data.err`. */
function detail(data: unknown): string {
  const text = typeof data === "object" && data !== null && "err" in data ? data.err : data;
  return typeof text === "string" && text !== "" ? `, ${text}` : "";
}
