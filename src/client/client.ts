/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from "./call-options.ts";
import type { ForkName } from "./chain-types.ts";
import type { ChainEvent } from "./events.ts";
import { METHOD_NAMES, type Methods, type Topic } from "./methods.ts";
import { RpcError } from "./rpc-error.ts";
import type { RpcRequest, RpcResponse, Transport } from "./transport.ts";

export interface Subscription {
  /** Resolves when the subscription ends, with an error if the node or the connection ended it. */
  readonly ended: Promise<Error | undefined>;
  unsubscribe(): Promise<void>;
}

type MethodName = keyof Methods;
type ParamsOf<Name extends MethodName> = NonNullable<Parameters<Methods[Name]>[0]>;
type ResultOf<Name extends MethodName, F extends ForkName> = Awaited<ReturnType<Methods<F>[Name]>>;

/** A call in a batch: method name and parameters. */
export type BatchCall = {
  [Name in MethodName]: readonly [method: Name, params?: ParamsOf<Name>];
}[MethodName];

type BatchResults<Calls extends readonly BatchCall[], F extends ForkName> = {
  -readonly [Index in keyof Calls]: ResultOf<Calls[Index][0], F> | RpcError;
};

/**
 * Client with a function for every method of the node, taking parameters by name. `F` is the fork of the chain, or a
 * union of its forks, for which results are typed. By default, results are typed for any fork.
 */
export interface Client<F extends ForkName = ForkName> extends Methods<F>, AsyncDisposable {
  /** Calls a method by name, e.g. a method of a newer node. */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  /** Sends several calls as a batch. The result of a failed call is its error. */
  batch<const Calls extends readonly BatchCall[]>(calls: Calls, options?: CallOptions): Promise<BatchResults<Calls, F>>;
  /** Subscribes to topics and calls the listener with each event. */
  subscribe<T extends Topic>(topics: readonly T[], listener: (event: ChainEvent<T, F>) => void): Promise<Subscription>;
  /** Closes the connection and rejects pending calls. */
  close(): Promise<void>;
}

export function clientOver<F extends ForkName = ForkName>(transport: Transport): Client<F> {
  let lastId = 0;
  function requestOf(method: string, params: object = {}): RpcRequest {
    if (typeof params !== "object" || params === null) {
      throw new TypeError(`${method} takes its parameters by name, as one object; ${String(params)} was given.`);
    }
    return { jsonrpc: "2.0", id: ++lastId, method, params };
  }

  async function call(method: string, params?: object, { signal }: CallOptions = {}): Promise<unknown> {
    const [response] = await transport.send([requestOf(method, params)], signal);
    const outcome = outcomeOf(response);
    if (outcome instanceof RpcError) throw outcome;
    return outcome;
  }

  async function batch(calls: readonly BatchCall[], { signal }: CallOptions = {}): Promise<unknown[]> {
    if (calls.length === 0) return [];
    const requests = calls.map(([method, params]) => requestOf(method, params));
    const responses = await transport.send(requests, signal);
    const byId = new Map(responses.map((response) => [response.id, response]));
    // If the batch as a whole is rejected, there is a single response with a null id.
    return requests.map(({ id }) => outcomeOf(byId.get(id) ?? byId.get(null)));
  }

  async function subscribe(topics: readonly Topic[], listener: (event: ChainEvent) => void): Promise<Subscription> {
    if (typeof listener !== "function") {
      throw new TypeError("subscribe() requires topics and a listener function.");
    }
    const { promise: ended, resolve } = Promise.withResolvers<Error | undefined>();
    const unsubscribe = await transport.subscribe(topics, {
      deliver: (topic, data) => listener({ topic, data } as ChainEvent),
      end: resolve,
    });
    return { ended, unsubscribe };
  }

  const methods = Object.fromEntries(
    METHOD_NAMES.map((name) => [name, (params?: object, options?: CallOptions) => call(name, params, options)]),
  );
  const close = () => transport.close();
  // The cast is safe: the functions match the generated types.
  return { ...methods, call, batch, subscribe, close, [Symbol.asyncDispose]: close } as unknown as Client<F>;
}

function outcomeOf(response: RpcResponse | undefined): unknown {
  if (response === undefined) throw new Error("The node sent no response to a call.");
  return "error" in response ? new RpcError(response.error) : response.result;
}
