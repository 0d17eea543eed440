import { scheduler } from "../scheduler.ts";
import { type Handlers, handleOne } from "./protocol.ts";

/** After so many of them what waited for them goes on, which takes most of the time that they cost. */
const AT_ONCE = 4;

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

  readonly #goOn = (): void => {
    for (let left = AT_ONCE; this.#next < this.#waiting.length; left--) {
      if (!scheduler.hasTime) {
        scheduler.run("thread", this.#goOn);
        return;
      }
      if (left === 0) {
        queueMicrotask(this.#goOn);
        return;
      }
      handleOne(this.#handlers, this.#waiting[this.#next++]!);
    }
    this.#waiting = [];
    this.#next = 0;
  };
}
