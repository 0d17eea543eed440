import { dispatch, type Handlers } from "../../../threads/messages.ts";
import { scheduler } from "../../scheduler.ts";

/** Number of messages handled before their microtasks, which do most of the work, get to run. */
const MESSAGES_PER_BATCH = 4;

/** Handles messages from another thread in order, within the scheduler's time budget. */
export class ThreadInbox<Message extends [kind: string, ...unknown[]]> {
  readonly #handlers: Handlers<Message>;
  #waiting: Message[] = [];
  /** Index of the next message. */
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
    for (let remaining = MESSAGES_PER_BATCH; this.#next < this.#waiting.length; remaining--) {
      if (!scheduler.hasTime) {
        scheduler.run("thread", this.#goOn);
        return;
      }
      if (remaining === 0) {
        queueMicrotask(this.#goOn);
        return;
      }
      dispatch(this.#handlers, this.#waiting[this.#next++]!);
    }
    this.#waiting = [];
    this.#next = 0;
  };
}
