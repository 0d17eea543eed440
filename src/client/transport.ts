import { stringifyFor } from "./encode-params.ts";
import type { RpcErrorData } from "./rpc-error.ts";

export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: object;
}

/** JSON-RPC response. The id is null if the node could not read it from the request. */
export type RpcResponse =
  | { readonly id: number | null; readonly result: unknown }
  | {
      readonly id: number | null;
      readonly error: { readonly code: number; readonly message: string; readonly data?: RpcErrorData };
    };

/** Receives the events of a subscription. */
export interface EventReader {
  deliver(topic: string, data: unknown): void;
  /** Called when the subscription ends, with a reason unless the client cancelled it. */
  end(reason?: Error): void;
}

/** Transport for JSON-RPC requests and subscriptions. */
export interface Transport {
  /** Sends several requests as a batch. Responses may be in any order. */
  send(requests: readonly RpcRequest[], signal?: AbortSignal): Promise<readonly RpcResponse[]>;
  /** Returns a function that ends the subscription. */
  subscribe(topics: readonly string[], reader: EventReader): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Parses JSON. Returns undefined if the text is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the responses in a parsed message, or undefined if the message is not a JSON-RPC response. */
export function readResponses(value: unknown): RpcResponse[] | undefined {
  const responses = Array.isArray(value) ? value : [value];
  return responses.every(isResponse) ? responses : undefined;
}

function isResponse(value: unknown): value is RpcResponse {
  return typeof value === "object" && value !== null && ("result" in value || "error" in value);
}

/** Serializes a single request or a batch. */
export function messageOf(requests: readonly RpcRequest[]): string {
  const texts = requests.map((request) => stringifyFor(request.method, request));
  return texts.length === 1 ? texts[0]! : `[${texts.join()}]`;
}

/** Settles like the work, or rejects with the signal's reason once the signal is aborted. */
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
