import { setImmediate } from "node:timers";

/** The part of a port, or of a worker, by which messages go. */
interface Port<Message> {
  postMessage(messages: readonly Message[], transferred: readonly ArrayBuffer[]): void;
}

/** Sends all messages of a turn of the event loop as one: to wake another thread costs more than many a call. */
export class ThreadOutbox<Message> {
  readonly #port: Port<Message>;
  readonly #beforeSending: () => void;
  #messages: Message[] = [];
  #transferred: ArrayBuffer[] = [];

  /** @param beforeSending is called before what is sent leaves this thread */
  constructor(port: Port<Message>, beforeSending: () => void = () => {}) {
    this.#port = port;
    this.#beforeSending = beforeSending;
  }

  /** `bytes` are those in the message; their memory is handed over with it, and is this thread's no longer. */
  send(message: Message, ...bytes: readonly unknown[]): void {
    for (const each of bytes) if (each instanceof Uint8Array) this.#transferred.push(each.buffer as ArrayBuffer);
    if (this.#messages.push(message) === 1) setImmediate(() => this.flush());
  }

  /** Sends at once what there is. */
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
