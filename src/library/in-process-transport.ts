import { RpcError } from "../client/rpc-error.ts";
import {
  type EventReader,
  messageOf,
  type RpcRequest,
  type RpcResponse,
  readResponses,
  type Transport,
  unlessAborted,
} from "../client/transport.ts";
import type { Logger } from "../log/logger.ts";
import { type Feed, OVERLOAD_MESSAGE } from "../server/events/feed.ts";
import { Deadline } from "../server/http/deadline.ts";
import { createExecutor, type Execute } from "../server/jsonrpc/execute.ts";
import type { Client, MethodTable } from "../server/method-table.ts";

/**
 * Calls the methods of a node in the same process. Responses are round-tripped through JSON, as if served over HTTP.
 */
export class InProcessTransport implements Transport {
  readonly #execute: Execute;
  readonly #closing = new AbortController();
  readonly #endings = new Set<() => void>();

  constructor(table: MethodTable, logger: Logger) {
    const unlimited = { batchLength: Number.POSITIVE_INFINITY, batchBytes: Number.POSITIVE_INFINITY };
    this.#execute = createExecutor({ table, logger, ...unlimited, server: "json-rpc" });
  }

  send(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]> {
    return this.#run(requests, undefined, signal);
  }

  async subscribe(topics: readonly string[], reader: EventReader): Promise<() => Promise<void>> {
    let isRunning = true;
    let stop: (() => void) | undefined;
    const end = (reason?: Error) => {
      if (!isRunning) return;
      isRunning = false;
      stop?.();
      this.#endings.delete(end);
      reader.end(reason);
    };
    const subscribe = (feed: Feed): string => {
      stop = feed.open({
        // Delivered asynchronously, so a listener can neither block the node nor make it fail.
        deliver: ({ topic, data }) =>
          queueMicrotask(() => {
            if (isRunning) reader.deliver(topic, JSON.parse(data.toString()));
          }),
        disconnect: () => end(new Error(`Subscription ended. ${OVERLOAD_MESSAGE}`)),
      });
      return "in-process";
    };
    const caller: Client = { subscribe, unsubscribe: () => false, denialReason: () => undefined };
    await this.request("subscribe", { topics }, caller);
    this.#endings.add(end);
    return async () => end();
  }

  /** Calls one method. Throws an `RpcError` if the call fails. */
  async request(method: string, params: object, caller?: Client): Promise<unknown> {
    const [response] = await this.#run([{ jsonrpc: "2.0", id: 0, method, params }], caller);
    if (response === undefined) throw new Error(`No response to ${method}.`);
    if ("error" in response) throw new RpcError(response.error);
    return response.result;
  }

  async close(reason = "The client is closed."): Promise<void> {
    this.#closing.abort(new Error(reason));
    for (const end of this.#endings) end();
  }

  async #run(
    requests: readonly RpcRequest[],
    caller: Client | undefined,
    signal?: AbortSignal,
  ): Promise<readonly RpcResponse[]> {
    const ending = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
    ending.throwIfAborted();
    const deadline = new Deadline(Number.POSITIVE_INFINITY);
    const abandon = () => deadline.cancel();
    ending.addEventListener("abort", abandon);
    try {
      return await unlessAborted(this.#answers(requests, deadline, caller), ending);
    } finally {
      ending.removeEventListener("abort", abandon);
    }
  }

  async #answers(
    requests: readonly RpcRequest[],
    deadline: Deadline,
    caller?: Client,
  ): Promise<readonly RpcResponse[]> {
    const response = await this.#execute(Buffer.from(messageOf(requests)), deadline, caller);
    const { body = [] } = response ?? {};
    const chunks = Array.isArray(body) ? body : await Array.fromAsync(body);
    return readResponses(JSON.parse(Buffer.concat(chunks).toString())) ?? [];
  }
}
