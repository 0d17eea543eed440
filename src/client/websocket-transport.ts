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

/** Subscription notification from the node. */
interface Notification {
  method: "subscription";
  params: { subscription: string; topic: string; data: unknown } | { subscription: string; error: ErrorMembers };
}

/** Application-defined close code (RFC 6455, section 7.4.2). */
const BAD_DATA = 4000;
const MESSAGE_TOO_BIG = 1009;

type ErrorMembers = ConstructorParameters<typeof RpcError>[0];

/** Sends calls and receives events over a single WebSocket, which is opened by the first call. */
export class WebSocketTransport implements Transport {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #readers = new Map<string, EventReader>();
  /** Ids of subscription requests count down; ids of calls count up. */
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
      // Set synchronously, because the first event may follow in the same turn.
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
      const message = messageOf([request]);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#waiting.set(request.id, {
        reject,
        resolve: (response) => {
          if ("error" in response) return reject(new RpcError(response.error));
          onResult?.(response.result);
          resolve();
        },
      });
      socket.send(message);
      return promise;
    });
  }

  async #exchange(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]> {
    const socket = await this.#connect();
    signal?.throwIfAborted();
    const message = messageOf(requests);
    const responses = requests.map(({ id }) => {
      const { promise, resolve, reject } = Promise.withResolvers<RpcResponse>();
      this.#waiting.set(id, { resolve, reject });
      return promise;
    });
    socket.send(message);
    return Promise.all(responses);
  }

  #connect(): Promise<WebSocket> {
    if (this.#isClosed) return Promise.reject(new Error("The client is closed."));
    this.#opening ??= this.#open();
    return this.#opening;
  }

  #open(): Promise<WebSocket> {
    if (typeof WebSocket === "undefined") {
      throw new Error("WebSocket is not available. Node has it from version 22 on.");
    }
    const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
    const socket = openSocket(this.#url, this.#headers);
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("message", ({ data }) => {
      if (!this.#read(parseJson(String(data)))) socket.close(BAD_DATA, "This is not JSON-RPC 2.0.");
    });
    // A close event always follows the error.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", ({ code, reason }) => {
      this.#opening = undefined;
      reject(new Error(`The node at ${this.#url} is unreachable or rejected the connection.`));
      this.#endAll(reason || (code === MESSAGE_TOO_BIG ? "a message exceeds the size limit of the node." : ""));
    });
    return promise;
  }

  /** Rejects pending calls and ends subscriptions. The next call opens a new connection. */
  #endAll(reason: string): void {
    const error = this.#isClosed
      ? new Error("The client was closed.")
      : new Error(`The connection to ${this.#url} was closed${reason === "" ? "." : `: ${reason}`}`);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const reader of this.#readers.values()) reader.end(this.#isClosed ? undefined : error);
    this.#readers.clear();
  }

  /** Dispatches a message. Returns false if the message is not JSON-RPC. */
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
    // A null id cannot be matched to a request, so the message settles all of them.
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

/** Opens a WebSocket with headers, which Node supports as an extension, unlike browsers. */
function openSocket(url: string, headers: Record<string, string>): WebSocket {
  if (Object.keys(headers).length === 0) return new WebSocket(url);
  const Socket = WebSocket as unknown as new (url: string, options: { headers: Record<string, string> }) => WebSocket;
  try {
    return new Socket(url, { headers });
  } catch (error) {
    throw new Error("This WebSocket cannot send a token or credentials. Use an HTTP URL.", {
      cause: error,
    });
  }
}

function isNotification(message: unknown): message is Notification {
  return (message as Notification | null)?.method === "subscription";
}
