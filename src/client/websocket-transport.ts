import { RpcError } from "./rpc-error.ts";
import {
  type EventReader,
  messageOf,
  parseJson,
  type RpcRequest,
  type RpcResponse,
  readResponses,
  type Transport,
  unlessAborted,
} from "./transport.ts";

interface Waiting {
  resolve(response: RpcResponse): void;
  reject(reason: unknown): void;
}

/** What the node sends of itself. */
interface Notification {
  method: "subscription";
  params: { subscription: string; topic: string; data: unknown } | { subscription: string; error: ErrorMembers };
}

/** A close code that is for applications to use (RFC 6455, section 7.4.2). */
const BAD_DATA = 4000;
const MESSAGE_TOO_BIG = 1009;

type ErrorMembers = ConstructorParameters<typeof RpcError>[0];

/** Calls and events over one connection, which is opened by the first call. */
export class WebSocketTransport implements Transport {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #readers = new Map<string, EventReader>();
  /** Of requests about subscriptions. The ids of the client's calls count upwards. */
  #lastOwnId = 0;
  #opening: Promise<WebSocket> | undefined;
  #isClosed = false;

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  send(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]> {
    return unlessAborted(this.#exchange(requests, signal), signal);
  }

  async subscribe(topics: readonly string[], reader: EventReader): Promise<() => Promise<void>> {
    let subscription = "";
    await this.#ask("subscribe", { topics }, (result) => {
      // At once: the first event may have come together with the answer.
      subscription = String(result);
      this.#readers.set(subscription, reader);
    });
    return async () => {
      if (!this.#readers.delete(subscription)) return;
      reader.end();
      await this.#ask("unsubscribe", { subscription });
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const socket = await this.#opening?.catch(() => undefined);
    if (socket === undefined || socket.readyState === socket.CLOSED) return;
    const closed = new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }));
    socket.close();
    await closed;
  }

  #ask(method: string, params: object, onResult?: (result: unknown) => void): Promise<void> {
    const request = { jsonrpc: "2.0", id: --this.#lastOwnId, method, params } as const;
    return this.#connect().then((socket) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#waiting.set(request.id, {
        reject,
        resolve: (response) => {
          if ("error" in response) return reject(new RpcError(response.error));
          onResult?.(response.result);
          resolve();
        },
      });
      socket.send(messageOf([request]));
      return promise;
    });
  }

  async #exchange(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]> {
    const socket = await this.#connect();
    // Nobody waits any more, so that nothing is to be done.
    signal?.throwIfAborted();
    const responses = requests.map(({ id }) => {
      const { promise, resolve, reject } = Promise.withResolvers<RpcResponse>();
      this.#waiting.set(id, { resolve, reject });
      return promise;
    });
    socket.send(messageOf(requests));
    return Promise.all(responses);
  }

  #connect(): Promise<WebSocket> {
    if (this.#isClosed) return Promise.reject(new Error("The client is closed."));
    this.#opening ??= this.#open();
    return this.#opening;
  }

  #open(): Promise<WebSocket> {
    if (typeof WebSocket === "undefined") {
      throw new Error("There is no WebSocket here: Node has one from version 22 on.");
    }
    const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
    const socket = openSocket(this.#url, this.#headers);
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("message", ({ data }) => {
      if (!this.#read(parseJson(String(data)))) socket.close(BAD_DATA, "This is not JSON-RPC 2.0.");
    });
    // An error is always followed by the close.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", ({ code, reason }) => {
      this.#opening = undefined;
      reject(new Error(`No node can be reached at ${this.#url}, or it refused the connection.`));
      this.#endAll(reason || (code === MESSAGE_TOO_BIG ? "a message is larger than the node takes." : ""));
    });
    return promise;
  }

  /** The next call opens a new connection. */
  #endAll(reason: string): void {
    const error = this.#isClosed
      ? new Error("The client was closed.")
      : new Error(`The connection to ${this.#url} was closed${reason === "" ? "." : `: ${reason}`}`);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const reader of this.#readers.values()) reader.end(this.#isClosed ? undefined : error);
    this.#readers.clear();
  }

  /** False for what is no message of JSON-RPC. */
  #read(message: unknown): boolean {
    if (isNotification(message)) {
      this.#deliver(message.params);
      return true;
    }
    const responses = readResponses(message);
    for (const response of responses ?? []) this.#settle(response);
    return responses !== undefined;
  }

  #settle(response: RpcResponse): void {
    if (response.id !== null) {
      this.#waiting.get(response.id)?.resolve(response);
      this.#waiting.delete(response.id);
      return;
    }
    // A message was refused as a whole, and nobody can tell which.
    for (const { resolve } of this.#waiting.values()) resolve(response);
    this.#waiting.clear();
  }

  #deliver(params: Notification["params"]): void {
    const reader = this.#readers.get(params.subscription);
    if ("error" in params) {
      this.#readers.delete(params.subscription);
      reader?.end(new RpcError(params.error));
    } else reader?.deliver(params.topic, params.data);
  }
}

/** A browser's WebSocket sends no headers of its user; that of Node takes them beside what the standard has. */
function openSocket(url: string, headers: Record<string, string>): WebSocket {
  if (Object.keys(headers).length === 0) return new WebSocket(url);
  const Socket = WebSocket as unknown as new (url: string, options: { headers: Record<string, string> }) => WebSocket;
  try {
    return new Socket(url, { headers });
  } catch (error) {
    throw new Error(
      "The WebSocket here, like that of browsers, cannot send a token or a password: a URL of HTTP can be called with it.",
      {
        cause: error,
      },
    );
  }
}

function isNotification(message: unknown): message is Notification {
  return (message as Notification | null)?.method === "subscription";
}
