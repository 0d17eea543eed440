import { setImmediate } from "node:timers";
import { MessagePort } from "node:worker_threads";
import type { Movable } from "./transfer.ts";

/** The sending half of a port or worker. */
interface Port<Message> {
  postMessage(messages: readonly Message[], transferred: readonly Movable[]): void;
}

/** Batches all messages from one turn of the event loop, since waking another thread is expensive. */
export class ThreadOutbox<Message> {
  readonly #port: Port<Message>;
  readonly #beforeSending: () => void;
  #messages: Message[] = [];
  #transferred: Movable[] = [];

  /** Calls `beforeSending` before posting a batch. */
  constructor(port: Port<Message>, beforeSending: () => void = () => {}) {
    this.#port = port;
    this.#beforeSending = beforeSending;
  }

  /** Queues a message. Ports and byte arrays among `parts` are transferred rather than cloned. */
  send(message: Message, ...parts: readonly unknown[]): void {
    for (const part of parts) {
      if (part instanceof Uint8Array) this.#transferred.push(part.buffer as ArrayBuffer);
      else if (part instanceof MessagePort) this.#transferred.push(part);
    }
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
