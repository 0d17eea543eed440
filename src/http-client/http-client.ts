import type { buildConnector, Dispatcher } from "undici";
import { Connection, type Exchange, type ResponseHandler } from "./connection.ts";
import { HttpError } from "./http-error.ts";
import { loadUndici } from "./load-undici.ts";
import { type HttpResponse, ResponseReceiver } from "./response.ts";

const CONNECT_TIMEOUT_MS = 3000;
const HEADERS_TIMEOUT_MS = 120_000;
const BODY_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 4000;

export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** Timeouts have a resolution of one second. 0 disables the header and body timeouts. */
export interface HttpClientOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
  /** From the end of the request to the end of the response headers. */
  readonly headersTimeoutMs?: number;
  /** Between two chunks of the body. Suspended while the body is paused. */
  readonly bodyTimeoutMs?: number;
  /** How long an idle connection is kept open if the server gives no Keep-Alive hint. */
  readonly idleTimeoutMs?: number;
  /**
   * Called when a new connection replaces one that the server closed. The new connection may lead to a different
   * server.
   */
  readonly onReconnect?: () => void;
}

export interface SendOptions {
  /**
   * True by default: the request uses a keep-alive connection, and is retried once on a new connection if the server
   * closed the idle connection without sending any byte of a response. A non-idempotent request gets its own connection
   * and is never retried.
   */
  readonly idempotent?: boolean;
  /** Overrides the client's timeout. */
  readonly headersTimeoutMs?: number;
}

/**
 * HTTP/1.1 client for a single server, with keep-alive connections. Does not follow redirects or accept content
 * encodings.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #open = new Set<Connection>();
  /** Most recently used connections last. */
  readonly #idle: Connection[] = [];
  #connector: buildConnector.connector | undefined;
  #hasLostConnection = false;
  #isClosed = false;

  /** The URL's credentials are sent with every request. Its path is ignored. */
  constructor(url: string | URL, options: HttpClientOptions = {}) {
    const { origin, username, password } = new URL(url);
    this.#options = options;
    this.#origin = origin;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    this.#headers = {
      "accept-encoding": "identity",
      ...(credentials !== ":" && { authorization }),
      ...options.headers,
    };
  }

  /** Resolves when the response headers have arrived. Aborting the signal later also ends the body. */
  async request(request: HttpRequest, options: SendOptions & { signal?: AbortSignal } = {}): Promise<HttpResponse> {
    const { signal } = options;
    signal?.throwIfAborted();
    const receiver = new ResponseReceiver(signal);
    this.send(request, receiver, options);
    return receiver.response;
  }

  /** The callback form of `request`. */
  send(
    request: HttpRequest,
    handler: ResponseHandler,
    { idempotent = true, headersTimeoutMs }: SendOptions = {},
  ): void {
    const { method, path, headers, body } = request;
    const options: Dispatcher.DispatchOptions = {
      method,
      path,
      headers: { ...this.#headers, ...headers },
      body,
      headersTimeout: headersTimeoutMs ?? this.#options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
      reset: !idempotent,
    };
    this.#send({ options, handler }, idempotent ? this.#takeIdle() : undefined);
  }

  /** Fails all requests in flight. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.fail(closedError());
  }

  #send(exchange: Exchange, idle?: Connection): void {
    if (this.#isClosed) exchange.handler.onError(closedError());
    else (idle ?? this.#connect()).send(exchange);
  }

  #takeIdle(): Connection | undefined {
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (!last.isClosed) return last;
      last.destroy();
    }
    return undefined;
  }

  #connect(): Connection {
    const { connectTimeoutMs, bodyTimeoutMs, idleTimeoutMs } = this.#options;
    this.#connector ??= loadUndici().buildConnector({ timeout: connectTimeoutMs ?? CONNECT_TIMEOUT_MS });
    const options = {
      origin: this.#origin,
      connector: this.#connector,
      bodyTimeout: bodyTimeoutMs ?? BODY_TIMEOUT_MS,
      keepAliveTimeout: idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    };
    const connected = new Connection(options, {
      onFree: (connection) => this.#idle.push(connection),
      onFirstResponse: () => this.#noteConnection(),
      onLost: () => {
        this.#hasLostConnection = true;
      },
      onUnanswered: (exchange) => this.#send(exchange),
      onClosed: (connection) => {
        this.#open.delete(connection);
        const position = this.#idle.indexOf(connection);
        if (position !== -1) this.#idle.splice(position, 1);
      },
    });
    this.#open.add(connected);
    return connected;
  }

  #noteConnection(): void {
    if (!this.#hasLostConnection) return;
    this.#hasLostConnection = false;
    this.#options.onReconnect?.();
  }
}

const closedError = () => new HttpError("ERR_CLOSED", "the client is closed");
