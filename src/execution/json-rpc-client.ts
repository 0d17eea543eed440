import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import { OperationalError } from "../errors/operational-error.ts";
import type { BodyStream } from "../http-client/body-stream.ts";
import { HttpClient } from "../http-client/http-client.ts";
import { messageOf } from "../http-client/http-error.ts";

/** Larger than any expected response: 128 blobs with cell proofs are 36 MB in hex. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than a slot, so a connection closed by the server indicates a restart. */
const IDLE_TIMEOUT_MS = 600_000;

/** Truncation limits for invalid responses and error messages in logs. */
const SHOWN_CHARACTERS = 80;
const SHOWN_OF_ERROR = 300;

/** Reason for a missing response. "unauthorized": the server rejects the caller. */
type JsonRpcFailureKind = "unreachable" | "timeout" | "unauthorized" | "unusable" | "ended";

/** There is no usable response. The message is a complete sentence. */
export class JsonRpcFailure extends OperationalError {
  readonly kind: JsonRpcFailureKind;

  constructor(kind: JsonRpcFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "JsonRpcFailure";
    this.kind = kind;
  }
}

/** The server responded with an error. The message is a complete sentence. */
export class JsonRpcResponseError extends OperationalError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "JsonRpcResponseError";
    this.code = code;
  }
}

interface JsonRpcClientOptions {
  url: string;
  /** Evaluated for every request. */
  headers?: () => Readonly<Record<string, string>>;
  maxResponseBytes?: number;
  /**
   * Called when a new connection replaces one closed by the server. The new connection may reach a different server.
   */
  onReconnect?: () => void;
  timers?: Pick<Timers, "sleep">;
}

interface CallOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

interface HttpResponse {
  status: number;
  body: string;
}

/** JSON-RPC client over HTTP with keep-alive connections. */
export class JsonRpcClient {
  /** The URL origin, without credentials. */
  readonly origin: string;
  readonly #path: string;
  readonly #http: HttpClient;
  readonly #headers: () => Readonly<Record<string, string>>;
  readonly #maxResponseBytes: number;
  readonly #timers: Pick<Timers, "sleep">;
  readonly #closed = new AbortController();
  #lastId = 0;

  constructor({ url, headers, maxResponseBytes, onReconnect, timers }: JsonRpcClientOptions) {
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
    this.#maxResponseBytes = maxResponseBytes ?? MAX_RESPONSE_BYTES;
    this.#timers = timers ?? SYSTEM_TIMERS;
  }

  /**
   * Calls a method and returns the result. Rejects with a `JsonRpcResponseError` if the server responds with an error,
   * otherwise with a `JsonRpcFailure`.
   */
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
    let answer: HttpResponse;
    try {
      answer = await this.#exchange(body, AbortSignal.any(ends));
    } catch (error) {
      if (late.signal.aborted) {
        throw new JsonRpcFailure(
          "timeout",
          `${this.origin} did not respond to ${method} within ${timeoutMs / 1000} s.`,
        );
      }
      if (ends.some(({ aborted }) => aborted)) {
        throw new JsonRpcFailure("ended", `The call of ${method} at ${this.origin} was aborted.`, error);
      }
      if (error instanceof InvalidResponse) throw this.#unusable(method, error.message);
      throw new JsonRpcFailure("unreachable", `Cannot call ${method} at ${this.origin}: ${messageOf(error)}.`, error);
    } finally {
      done.abort();
    }
    return this.#result(method, id, answer);
  }

  /** Aborts all calls and closes the connections. */
  close(): void {
    this.#closed.abort();
    this.#http.close();
  }

  async #exchange(body: string, signal: AbortSignal): Promise<HttpResponse> {
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
        if (size > this.#maxResponseBytes) throw new InvalidResponse(`it exceeds ${this.#maxResponseBytes} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof InvalidResponse) throw error;
      throw new InvalidResponse(`it was truncated after ${size} bytes`);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #result(method: string, id: number, { status, body }: HttpResponse): unknown {
    if (status === 401 || status === 403) {
      throw new JsonRpcFailure("unauthorized", `${this.origin} rejected ${method} with HTTP status ${status}.`);
    }
    const answer = parseResponse(body);
    if (answer?.jsonrpc !== "2.0" || (answer.id !== id && answer.id !== null)) {
      const shown = JSON.stringify(body.slice(0, SHOWN_CHARACTERS));
      throw this.#unusable(method, `HTTP status ${status} with ${shown}, which is not a JSON-RPC response`);
    }
    if (isError(answer.error)) {
      const { code, message, data } = answer.error;
      const details = `${message}${detail(data)}`.slice(0, SHOWN_OF_ERROR);
      throw new JsonRpcResponseError(code, `${this.origin} rejected ${method}: ${details} (code ${code}).`);
    }
    if (answer.id === id && answer.result !== undefined) return answer.result;
    throw this.#unusable(method, "it has neither a result nor an error");
  }

  #unusable(method: string, problem: string): JsonRpcFailure {
    return new JsonRpcFailure("unusable", `${this.origin} returned an invalid response to ${method}: ${problem}.`);
  }
}

/** Describes an invalid response as a clause. */
class InvalidResponse extends Error {}

/** Parses a response without validating its members. Returns null if it is not an object. */
function parseResponse(text: string): { jsonrpc?: unknown; id?: unknown; result?: unknown; error?: unknown } | null {
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

/** The Engine API puts details into `data.err`. */
function detail(data: unknown): string {
  const text = typeof data === "object" && data !== null && "err" in data ? data.err : data;
  return typeof text === "string" && text !== "" ? `, ${text}` : "";
}
