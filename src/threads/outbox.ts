import { setImmediate } from "node:timers";

/** The sending part of a port or worker. */
interface Port<Message> {
  postMessage(messages: readonly Message[], transferred: readonly ArrayBuffer[]): void;
}

/** Batches all messages of a turn of the event loop, since waking another thread is expensive. */
export class ThreadOutbox<Message> {
  readonly #port: Port<Message>;
  readonly #beforeSending: () => void;
  #messages: Message[] = [];
  #transferred: ArrayBuffer[] = [];

  /** `beforeSending` is called before a batch is posted. */
  constructor(port: Port<Message>, beforeSending: () => void = () => {}) {
    this.#port = port;
    this.#beforeSending = beforeSending;
  }

  /** Queues a message. The memory of `bytes`, which are part of the message, is transferred with it. */
  send(message: Message, ...bytes: readonly unknown[]): void {
    for (const each of bytes) if (each instanceof Uint8Array) this.#transferred.push(each.buffer as ArrayBuffer);
    if (this.#messages.push(message) === 1) setImmediate(() => this.flush());
  }

  /** Posts queued messages immediately. */
  flush(): void {
    if (this.#messages.length === 0) return;
    this.#beforeSending();
    const messages = this.#messages;
    const transferred = this.#transferred;
    this.#messages = [];
    this.#transferred = [];
    this.#port.postMessage(messages, transferred);
  }
}
