import type { RpcErrorData } from "./rpc-error.ts";

export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: object;
}

/** With an id of null where the node could not make out what it answers. */
export type RpcResponse =
  | { readonly id: number | null; readonly result: unknown }
  | {
      readonly id: number | null;
      readonly error: { readonly code: number; readonly message: string; readonly data?: RpcErrorData };
    };

/** Who reads the events of a subscription. */
export interface EventReader {
  deliver(topic: string, data: unknown): void;
  /** No more events come. There is a reason where nobody here asked for the end. */
  end(reason?: Error): void;
}

/** The way to a node and back. */
export interface Transport {
  /** Several requests are sent as a batch. Their responses come in any order. */
  send(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]>;
  /** The result ends the subscription. */
  subscribe(topics: readonly string[], reader: EventReader): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for what is no answer to JSON-RPC. */
export function readResponses(value: unknown): RpcResponse[] | undefined {
  const responses = Array.isArray(value) ? value : [value];
  return responses.every(isResponse) ? responses : undefined;
}

function isResponse(value: unknown): value is RpcResponse {
  return typeof value === "object" && value !== null && ("result" in value || "error" in value);
}

/** The message of a batch, or of the only request. */
export function messageOf(requests: readonly RpcRequest[]): string {
  return JSON.stringify(requests.length === 1 ? requests[0] : requests);
}

/** The outcome of the work, or a rejection with the reason of the signal as soon as that is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
