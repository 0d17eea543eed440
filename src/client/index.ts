import type { ForkName } from "./chain-types.ts";
import { type Client, clientOver } from "./client.ts";
import { HttpTransport } from "./http-transport.ts";
import { readClientOptions, readNodeUrl } from "./node-url.ts";
import { WebSocketTransport } from "./websocket-transport.ts";

export type { CallOptions } from "./call-options.ts";
export type * from "./chain-types.ts";
export type { BatchCall, Client, Subscription } from "./client.ts";
export type { ChainEvent, EventData } from "./events.ts";
export type { Methods, Topic } from "./methods.ts";
export { RpcError, type RpcErrorData, type RpcErrorKind } from "./rpc-error.ts";

export interface ClientOptions {
  /**
   * JSON-RPC URL of the node: http:// or https:// for calls, ws:// or wss:// for calls and events. Credentials in the
   * URL are sent by Basic authentication, for use with a reverse proxy.
   */
  readonly url: string;
  /** Bearer token of the node. Browsers cannot send it over a WebSocket. */
  readonly token?: string;
}

/**
 * Creates a client for a running node. Connects on the first call. `createClient<"fulu">` types results for a chain at
 * that fork.
 */
export function createClient<F extends ForkName = ForkName>(options: ClientOptions): Client<F> {
  const { url, token } = readClientOptions("createClient", options);
  const { protocol, address, authorization } = readNodeUrl(url);
  const credentials = token === undefined ? authorization : `Bearer ${token}`;
  const headers: Record<string, string> = credentials === undefined ? {} : { Authorization: credentials };
  const Way = protocol.startsWith("ws") ? WebSocketTransport : HttpTransport;
  return clientOver(new Way(address, headers));
}
