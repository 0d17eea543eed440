import type { MessagePort } from "node:worker_threads";
import type { Handlers } from "../../../threads/messages.ts";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import { receiveBytes } from "../../../threads/transferred-bytes.ts";
import type { Cancellation } from "../../method-table.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { ThreadInbox } from "../messages/inbox.ts";
import type { DirectAnswer, DirectCall, DirectMethod } from "./method-thread.ts";

interface ConnectionOptions {
  graceMs: number;
  /** Called if a cancelled call has not been answered within the grace period. */
  onStuck(method: string): void;
  onClose(): void;
}

export interface DirectResult {
  json: Buffer;
  isCacheable: boolean;
}

/** A call that has not been answered yet. */
interface PendingCall {
  /** Called with undefined if the connection is closed. */
  resolve(result: DirectResult | undefined): void;
  reject(error: Error): void;
  /** Runs until the time limit or, once the call is cancelled, until the end of the grace period. */
  timer: NodeJS.Timeout;
  stopListening: (() => void) | undefined;
}

/** A connection to a thread that answers calls of some methods. */
export class DirectConnection {
  readonly #outbox: ThreadOutbox<DirectCall>;
  readonly #options: ConnectionOptions;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #isClosed = false;

  constructor(port: MessagePort, options: ConnectionOptions) {
    this.#outbox = new ThreadOutbox(port);
    this.#options = options;
    const handlers: Handlers<DirectAnswer> = {
      result: (id, json, isCacheable) => this.#take(id)?.resolve({ json: receiveBytes(json), isCacheable }),
      thrown: (id, thrown) => this.#take(id)?.reject(SERVER_ERRORS.deserialize(thrown)),
    };
    const inbox = new ThreadInbox(handlers);
    port.on("message", (answers: DirectAnswer[]) => inbox.receive(answers));
    port.on("close", () => this.#close());
  }

  /** Returns undefined if the connection closes before the answer arrives. */
  call(
    { name, limitMs, timeout }: DirectMethod,
    params: string,
    isIrregular: boolean | undefined,
    cancellation: Cancellation | undefined,
  ): Promise<DirectResult | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const cancel = (reason: Error) => this.#cancel(id, name, reason);
      const timer = setTimeout(() => cancel(SERVER_ERRORS.deserialize(timeout)), limitMs);
      this.#pending.set(id, { resolve, reject, timer, stopListening: cancellation?.onAbort?.(cancel) });
      this.#outbox.send(["call", id, name, params, isIrregular]);
    });
  }

  /** Rejects a call, but keeps waiting for its execution to end. */
  #cancel(id: number, method: string, reason: Error): void {
    const call = this.#pending.get(id);
    if (call === undefined) return;
    clearTimeout(call.timer);
    call.stopListening?.();
    call.reject(reason);
    call.timer = setTimeout(() => this.#options.onStuck(method), this.#options.graceMs);
    this.#outbox.send(["cancel", id, SERVER_ERRORS.serialize(reason)]);
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    if (call === undefined) return undefined;
    this.#pending.delete(id);
    clearTimeout(call.timer);
    call.stopListening?.();
    return call;
  }

  #close(): void {
    this.#isClosed = true;
    this.#options.onClose();
    for (const id of [...this.#pending.keys()]) this.#take(id)?.resolve(undefined);
  }
}
