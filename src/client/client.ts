/// <reference lib="esnext.disposable" preserve="true" />
import type { CallOptions } from "./call-options.ts";
import type { ChainEvent } from "./events.ts";
import { METHOD_NAMES, type Methods, type Topic } from "./methods.ts";
import { RpcError } from "./rpc-error.ts";
import type { RpcRequest, RpcResponse, Transport } from "./transport.ts";

export interface Subscription {
  /** Settles when no more events come: with an error where the node or the connection ended them, else with nothing. */
  readonly ended: Promise<Error | undefined>;
  unsubscribe(): Promise<void>;
}

type MethodName = keyof Methods;
type ParamsOf<Name extends MethodName> = NonNullable<Parameters<Methods[Name]>[0]>;
type ResultOf<Name extends MethodName> = Awaited<ReturnType<Methods[Name]>>;

/** A call of a batch: the name of its method and its parameters. */
export type BatchCall = {
  [Name in MethodName]: readonly [method: Name, params?: ParamsOf<Name>];
}[MethodName];

type BatchResults<Calls extends readonly BatchCall[]> = {
  -readonly [Index in keyof Calls]: ResultOf<Calls[Index][0]> | RpcError;
};

/** Every method of the node as a function that takes its parameters by name, and what goes beyond single calls. */
export interface Client extends Methods, AsyncDisposable {
  /** Calls a method by its name, such as one of a newer node. */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  /** Makes several calls at once. Where one was refused, its error stands in the place of its result. */
  batch<const Calls extends readonly BatchCall[]>(calls: Calls, options?: CallOptions): Promise<BatchResults<Calls>>;
  /** Has the listener called with every event of the topics, from now on. */
  subscribe<T extends Topic>(topics: readonly T[], listener: (event: ChainEvent<T>) => void): Promise<Subscription>;
  /** Ends the connection and whatever waits for an answer. */
  close(): Promise<void>;
}

export function clientOver(transport: Transport): Client {
  let lastId = 0;
  const requestOf = (method: string, params: object = {}): RpcRequest => ({
    jsonrpc: "2.0",
    id: ++lastId,
    method,
    params,
  });

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
    // A node that refuses a batch as a whole answers once, and not to any of its calls.
    return requests.map(({ id }) => outcomeOf(byId.get(id) ?? byId.get(null)));
  }

  async function subscribe(topics: readonly Topic[], listener: (event: ChainEvent) => void): Promise<Subscription> {
    if (typeof listener !== "function") {
      throw new TypeError("subscribe() takes the topics, and a function that is called with each event.");
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
  // The functions are as the generated types say, of which nothing is left when the program runs.
  return { ...methods, call, batch, subscribe, close, [Symbol.asyncDispose]: close } as unknown as Client;
}

function outcomeOf(response: RpcResponse | undefined): unknown {
  if (response === undefined) throw new Error("The node left a call unanswered.");
  return "error" in response ? new RpcError(response.error) : response.result;
}
