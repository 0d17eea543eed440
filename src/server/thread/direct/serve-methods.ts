import type { MessagePort } from "node:worker_threads";
import { dispatchAll, type Handlers } from "../../../threads/messages.ts";
import { ThreadOutbox } from "../../../threads/outbox.ts";
import { transferOwned } from "../../../threads/transferred-bytes.ts";
import type { Params } from "../../method-table.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { parseParams } from "../messages/params.ts";
import type { DirectAnswer, DirectCall } from "./method-thread.ts";

/** A method that the thread serves. */
export interface ServedMethod {
  /** Returns a result as JSON, in memory of its own. Throws like `CallableMethod.call`. */
  call(params: Params, signal: AbortSignal): Promise<Uint8Array>;
  /** True if the result holds until the revision of the EVM changes. */
  isCacheable(params: Params): boolean;
}

/** Answers calls by the server thread, which arrive through a port. */
export function serveMethods(port: MessagePort, methods: ReadonlyMap<string, ServedMethod>): void {
  const outbox = new ThreadOutbox<DirectAnswer>(port);
  const running = new Map<number, AbortController>();
  const answer = async (id: number, name: string, json: string, isIrregular: boolean | undefined) => {
    const method = methods.get(name)!;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const params = parseParams(json, isIrregular);
      const result = transferOwned(await method.call(params, controller.signal));
      outbox.send(["result", id, result, method.isCacheable(params)], result);
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
