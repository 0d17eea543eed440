import type { MessagePort } from "node:worker_threads";
import { dispatchAll, type Handlers } from "../../../threads/messages.ts";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import { transferOwned } from "../../../threads/transferred-bytes.ts";
import type { Params } from "../../method-table.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { parseParams } from "../messages/params.ts";
import type { DirectAnswer, DirectCall } from "./method-thread.ts";

/** Returns the JSON of a result, in memory of its own. Throws as `CallableMethod.call` does. */
export type DirectCallHandler = (params: Params, signal: AbortSignal) => Promise<Uint8Array>;

/** Answers calls of the servers' thread, which arrive from a port. */
export function serveMethods(port: MessagePort, methods: ReadonlyMap<string, DirectCallHandler>): void {
  const outbox = new ThreadOutbox<DirectAnswer>(port);
  const running = new Map<number, AbortController>();
  const answer = async (id: number, method: string, json: string, isIrregular: boolean | undefined) => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const result = transferOwned(await methods.get(method)!(parseParams(json, isIrregular), controller.signal));
      outbox.send(["result", id, result], result);
    } catch (error) {
      outbox.send(["thrown", id, SERVER_ERRORS.serialize(error)]);
    } finally {
      running.delete(id);
    }
  };
  const handlers: Handlers<DirectCall> = {
    call: (...call) => void answer(...call),
    cancel: (id, reason) => running.get(id)?.abort(SERVER_ERRORS.deserialize(reason)),
  };
  port.on("message", (calls: DirectCall[]) => dispatchAll(handlers, calls));
}
