import { setImmediate } from "node:timers";
import { type Handlers, handleOne } from "./protocol.ts";

/** How long the other thread may keep everybody else waiting in one turn of the event loop. */
const TURN_MILLIS = 5;

/** Handles the messages of another thread in their order: all at once, unless they are so many that others would wait for that. */
export class ThreadInbox<Message extends [kind: string, ...unknown[]]> {
  readonly #handlers: Handlers<Message>;
  #waiting: Message[] = [];
  /** The position of the next one. */
  #next = 0;

  constructor(handlers: Handlers<Message>) {
    this.#handlers = handlers;
  }

  receive(messages: readonly Message[]): void {
    const isBehind = this.#waiting.length > 0;
    for (const message of messages) this.#waiting.push(message);
    if (!isBehind) this.#goOn();
  }

  #goOn(): void {
    const end = performance.now() + TURN_MILLIS;
    while (this.#next < this.#waiting.length) {
      if (performance.now() > end) {
        setImmediate(() => this.#goOn());
        return;
      }
      handleOne(this.#handlers, this.#waiting[this.#next++]!);
    }
    this.#waiting = [];
    this.#next = 0;
  }
}
