import type { Socket } from "node:net";
import type { buildConnector, Client, Dispatcher } from "undici";
import { HttpError, isConnectionLoss } from "./http-error.ts";
import { loadUndici } from "./load-undici.ts";

/** Limit on the total size of all header names and values. The trailers have a limit of the same size. */
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_HEADERS = 256;
/** Maximum number of 1xx responses before the final one. */
const MAX_INTERIM_RESPONSES = 16;
/** An idle connection is closed this much earlier than the server's Keep-Alive hint says. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** Receives one response. Nothing is called after `onEnd` or `onError`. */
export interface ResponseHandler {
  /** The request is being sent on this connection. Called again with another connection after a retry. */
  onSent(connection: Connection): void;
  /** The head of the final response. Header names are lowercase, and repeated headers are joined. */
  onHeaders(status: number, headers: Readonly<Record<string, string>>, statusText: string): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A request in flight. */
export interface Exchange {
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: ResponseHandler;
}

/** The pool that owns a connection. */
interface ConnectionOwner {
  /** The response is complete, and the connection can carry the next request. */
  onFree(connection: Connection): void;
  /** The first response on a new connection is complete. */
  onFirstResponse(): void;
  /** The server closed a keep-alive connection. */
  onLost(): void;
  /**
   * The server closed a keep-alive connection before sending any byte of the response, so it may not have seen the
   * request.
   */
  onUnanswered(exchange: Exchange): void;
  onClosed(connection: Connection): void;
}

export interface ConnectionOptions {
  readonly origin: string;
  readonly connector: buildConnector.connector;
  readonly bodyTimeout: number;
  readonly keepAliveTimeout: number;
}

/**
 * A connection that carries one request at a time. Uses an undici `Client`, because `Pool` does not expose its
 * connections.
 */
export class Connection implements Dispatcher.DispatchHandler {
  readonly #owner: ConnectionOwner;
  readonly #client: Client;
  #socket: Socket | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #exchange: Exchange | undefined;
  /** True once the first response is complete. */
  #isReused = false;
  #isDestroyed = false;
  #bytesReadBefore = 0;
  #interimResponses = 0;

  constructor({ origin, connector, ...limits }: ConnectionOptions, owner: ConnectionOwner) {
    this.#owner = owner;
    const { Client } = loadUndici();
    this.#client = new Client(origin, {
      ...limits,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      connect: (options, callback) => {
        connector(options, (...result) => {
          this.#socket = result[1] ?? undefined;
          this.#isReused = false;
          callback(...result);
        });
      },
    });
    this.#client.on("disconnect", (_origin, _targets, error) => this.#onDisconnect(error));
  }

  get isClosed(): boolean {
    return this.#isDestroyed || this.#socket?.destroyed === true;
  }

  send(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#interimResponses = 0;
    this.#client.dispatch(exchange.options, this);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** Closes the connection if it still carries this handler's request. The handler receives no more callbacks. */
  abort(handler: ResponseHandler): void {
    if (this.#exchange?.handler === handler) this.destroy();
  }

  /** Closes the connection. The handler of the request in flight receives no more callbacks. */
  destroy(): void {
    this.#exchange = undefined;
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    void this.#client.destroy();
    this.#owner.onClosed(this);
  }

  /** Closes the connection and fails the request in flight. */
  fail(error: Error): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.handler.onError(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#bytesReadBefore = this.#socket?.bytesRead ?? 0;
    this.#exchange?.handler.onSent(this);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    statusText = "",
  ): void {
    if (status < 200) {
      if (++this.#interimResponses <= MAX_INTERIM_RESPONSES) return;
      this.fail(
        new HttpError("ERR_TOO_MANY_INTERIM_RESPONSES", `it sent more than ${MAX_INTERIM_RESPONSES} 1xx responses`),
      );
      return;
    }
    const joined = joinHeaders(headers);
    if (joined) this.#exchange?.handler.onHeaders(status, joined, statusText);
    else this.fail(new HttpError("ERR_TOO_MANY_HEADERS", `the response has more than ${MAX_HEADERS} headers`));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#exchange?.handler.onData(chunk);
  }

  onResponseEnd(): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    this.#exchange = undefined;
    const isFirst = !this.#isReused;
    this.#isReused = true;
    // If the server responded early, part of the request body may be unsent.
    if (exchange.options.reset || this.#socket?.writableLength !== 0) this.destroy();
    else this.#owner.onFree(this);
    // undici's parser must not be re-entered from here, and it swallows exceptions.
    queueMicrotask(() => {
      if (isFirst) this.#owner.onFirstResponse();
      exchange.handler.onEnd();
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    const isLost = this.#isReused && isConnectionLoss(error);
    const isUnanswered = isLost && this.#socket?.bytesRead === this.#bytesReadBefore;
    if (isLost) this.#owner.onLost();
    this.destroy();
    if (isUnanswered) this.#owner.onUnanswered(exchange);
    else exchange.handler.onError(error);
  }

  #onDisconnect(error: Error): void {
    if (this.#isDestroyed) return;
    if (this.#isReused && isConnectionLoss(error)) this.#owner.onLost();
    // A request that has not been written yet is sent on a new socket.
    if (!this.#exchange) this.destroy();
  }
}

/** Joins repeated headers. Returns undefined if there are too many of them. */
function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const joined: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    count += Array.isArray(value) ? value.length : 1;
    if (count > MAX_HEADERS) return undefined;
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return joined;
}
