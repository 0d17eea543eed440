import { setImmediate } from "node:timers";
import { ErrorRegistry, type SerializedError } from "./error-registry.ts";
import { type KeepAlive, PendingCalls } from "./pending-calls.ts";
import { type Movable, toTransfer } from "./transfer.ts";

/** A message between the ends of a channel. */
export type ChannelMessage =
  | [kind: "call", id: number, method: string, args: readonly unknown[], isAbortable: boolean]
  | [kind: "notify", method: string, args: readonly unknown[]]
  | [kind: "abort", id: number]
  | [kind: "result", id: number, value: unknown]
  | [kind: "error", id: number, error: SerializedError];

/** The part of a message port or worker that a channel uses. */
export interface ChannelPort {
  postMessage(messages: unknown, moved?: readonly Movable[]): void;
  on(event: "message", listener: (messages: readonly ChannelMessage[]) => void): unknown;
}

/** Handles a call from the other end. An abortable call has an `AbortSignal` as its last argument. */
export type CallHandler = (method: string, args: readonly unknown[]) => unknown;

interface ChannelOptions {
  /** Handles calls from the other end. */
  handle?: CallHandler;
  /** Error classes known to both ends. */
  errors?: ErrorRegistry;
  /** Referenced while calls are pending. */
  keepAlive?: KeepAlive;
}

/**
 * Request/response channel between two threads. Either end can call the other's methods. Arguments and results are
 * transferred according to the rules of `toTransfer`. Calls arrive in the order they were sent.
 */
export class Channel {
  readonly #port: ChannelPort;
  readonly #handle: CallHandler;
  readonly #errors: ErrorRegistry;
  readonly #pending: PendingCalls;
  readonly #abortControllers = new Map<number, AbortController>();
  /** Notifications that the next message takes along, since waking another thread is expensive. */
  #queued: ChannelMessage[] = [];
  #queuedMoves: Movable[] = [];
  readonly #received: ChannelMessage[] = [];
  #closed: Error | undefined;

  constructor(
    port: ChannelPort,
    { handle = () => undefined, errors = new ErrorRegistry(), keepAlive }: ChannelOptions = {},
  ) {
    this.#port = port;
    this.#handle = handle;
    this.#errors = errors;
    this.#pending = new PendingCalls(keepAlive);
    port.on("message", (messages) => this.#receiveAll(messages));
  }

  /** Number of calls waiting for an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Calls a method of the other end. An `AbortSignal` passed as the last argument cancels the call there. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    const last = args.at(-1);
    if (last instanceof AbortSignal) return this.#callUntil(last, method, args.slice(0, -1));
    return this.#pending.call((id) => this.#postWith(args, (sent) => ["call", id, method, sent, false]));
  }

  async #callUntil(signal: AbortSignal, method: string, args: readonly unknown[]): Promise<unknown> {
    signal.throwIfAborted();
    let abort = () => {};
    const result = this.#pending.call((id) => {
      abort = () => {
        this.#post(["abort", id]);
        this.#pending.reject(id, signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#postWith(args, (sent) => ["call", id, method, sent, true]);
    });
    try {
      return await result;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /**
   * Calls a method of the other end and drops the result or error. The notification is sent with the next message, at
   * the latest at the end of this turn of the event loop. Does nothing once the channel is closed.
   */
  notify(method: string, args: readonly unknown[]): void {
    if (this.#closed) return;
    const sent = args.map((value) => toTransfer(value, this.#queuedMoves));
    if (this.#queued.push(["notify", method, sent]) === 1) setImmediate(() => this.#flush());
  }

  /** Rejects all pending and future calls. */
  close(error: Error): void {
    this.#closed ??= error;
    this.#pending.rejectAll(error);
    for (const controller of this.#abortControllers.values()) controller.abort(error);
  }

  #postWith(values: readonly unknown[], message: (sent: unknown[]) => ChannelMessage): void {
    const moved: Movable[] = [];
    const sent = values.map((value) => toTransfer(value, moved));
    this.#post(message(sent), moved);
  }

  /** Posts a message after the queued notifications, which stay queued if it cannot be cloned. */
  #post(message: ChannelMessage, moved: readonly Movable[] = []): void {
    this.#port.postMessage([...this.#queued, message], [...this.#queuedMoves, ...moved]);
    this.#queued = [];
    this.#queuedMoves = [];
  }

  #flush(): void {
    const last = this.#queued.pop();
    if (last && !this.#closed) this.#post(last);
  }

  #receiveAll(messages: readonly ChannelMessage[]): void {
    const isBehind = this.#received.length > 0;
    this.#received.push(...messages);
    if (!isBehind) this.#receiveNext();
  }

  /** Receives a message, and the next one once all microtasks are done, as if each had been posted by itself. */
  readonly #receiveNext = (): void => {
    this.#receive(this.#received.shift()!);
    if (this.#received.length > 0) queueMicrotask(() => process.nextTick(this.#receiveNext));
  };

  #receive(message: ChannelMessage): void {
    switch (message[0]) {
      case "call":
        void this.#answer(...message);
        return;
      case "notify":
        void this.#receiveNotification(...message);
        return;
      case "abort":
        this.#abortControllers.get(message[1])?.abort();
        return;
      case "result":
        this.#pending.resolve(message[1], message[2]);
        return;
      case "error":
        this.#pending.reject(message[1], this.#errors.deserialize(message[2]));
        return;
    }
  }

  async #receiveNotification(_kind: "notify", method: string, args: readonly unknown[]): Promise<void> {
    try {
      await this.#handle(method, args);
    } catch {
      // The other end expects no answer.
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
      const result = await this.#handle(method, controller ? [...args, controller.signal] : args);
      this.#postWith([result], ([sent]) => ["result", id, sent]);
    } catch (error) {
      this.#post(["error", id, this.#errors.serialize(error)]);
    } finally {
      if (controller) this.#abortControllers.delete(id);
    }
  }
}
