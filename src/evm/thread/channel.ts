import { MessagePort } from "node:worker_threads";
import { deserializeError, type SerializedError, serializeError } from "./serialized-error.ts";

/** A message between the ends of a channel. */
export type ChannelMessage =
  | [kind: "call", id: number, method: string, args: readonly unknown[], isAbortable: boolean]
  | [kind: "abort", id: number]
  | [kind: "result", id: number, value: unknown]
  | [kind: "error", id: number, error: SerializedError];

/** The part of a message port or worker that a channel uses. */
export interface ChannelPort {
  postMessage(message: unknown, transfer?: readonly MessagePort[]): void;
  on(event: "message", listener: (message: ChannelMessage) => void): unknown;
}

/** The part of a worker that is used. */
export interface ThreadPort extends ChannelPort {
  on(event: "message", listener: (message: ChannelMessage) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

/** Handles a call from the other end. An abortable call has an `AbortSignal` as its last argument. */
export type CallHandler = (method: string, args: readonly unknown[]) => unknown;

/** Keeps the process alive while calls are pending. */
interface KeepAlive {
  ref(): void;
  unref(): void;
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Request/response channel between two threads. Both ends can call methods of the other. Arguments and results are
 * cloned, ports among the arguments are transferred; errors keep their class if `serializeError` knows it. Calls arrive
 * in the order of sending.
 */
export class Channel {
  readonly #port: ChannelPort;
  readonly #handle: CallHandler;
  readonly #keepAlive: KeepAlive | undefined;
  readonly #pending = new Map<number, PendingCall>();
  readonly #abortControllers = new Map<number, AbortController>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(port: ChannelPort, handle: CallHandler, keepAlive?: KeepAlive) {
    this.#port = port;
    this.#handle = handle;
    this.#keepAlive = keepAlive;
    port.on("message", (message: ChannelMessage) => this.#receive(message));
  }

  /** Calls a method of the other end. If the last argument is an `AbortSignal`, it cancels the call there. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    const last = args.at(-1);
    const signal = last instanceof AbortSignal ? last : undefined;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = ++this.#lastId;
    const result = new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#keepAlive?.ref();
      this.#pending.set(id, { resolve, reject });
    });
    if (signal === undefined) {
      this.#send(["call", id, method, args, false]);
      return result;
    }
    this.#send(["call", id, method, args.slice(0, -1), true]);
    const abort = () => {
      this.#post(["abort", id]);
      this.#take(id)?.reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    return result.finally(() => signal.removeEventListener("abort", abort));
  }

  /** Rejects all pending and later calls. */
  close(error: Error): void {
    this.#closed ??= error;
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error);
    for (const controller of this.#abortControllers.values()) controller.abort(error);
  }

  #send(message: Extract<ChannelMessage, [kind: "call", ...unknown[]]>): void {
    try {
      this.#post(
        message,
        message[3].filter((arg) => arg instanceof MessagePort),
      );
    } catch (error) {
      this.#take(message[1])?.reject(error);
    }
  }

  #post(message: ChannelMessage, transfer?: readonly MessagePort[]): void {
    this.#port.postMessage(withOwnBuffers(message), transfer);
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    if (this.#pending.delete(id) && this.#pending.size === 0) this.#keepAlive?.unref();
    return call;
  }

  #receive(message: ChannelMessage): void {
    switch (message[0]) {
      case "call":
        void this.#answer(...message);
        return;
      case "abort":
        this.#abortControllers.get(message[1])?.abort();
        return;
      case "result":
        this.#take(message[1])?.resolve(message[2]);
        return;
      case "error":
        this.#take(message[1])?.reject(deserializeError(message[2]));
        return;
    }
  }

  async #answer(
    _kind: "call",
    id: number,
    method: string,
    args: readonly unknown[],
    isAbortable: boolean,
  ): Promise<void> {
    let controller: AbortController | undefined;
    if (isAbortable) {
      controller = new AbortController();
      this.#abortControllers.set(id, controller);
    }
    try {
      this.#post(["result", id, await this.#handle(method, controller ? [...args, controller.signal] : args)]);
    } catch (error) {
      this.#post(["error", id, serializeError(error)]);
    } finally {
      if (controller) this.#abortControllers.delete(id);
    }
  }
}

/** Copies bytes out of larger buffers: a clone of a view contains the whole buffer. */
function withOwnBuffers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return value.buffer.byteLength === value.length ? value : new Uint8Array(value);
  if (Array.isArray(value)) return value.map(withOwnBuffers);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) copy[key] = withOwnBuffers(inner);
  return copy;
}
