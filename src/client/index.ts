import { type Client, clientOver } from "./client.ts";
import { HttpTransport } from "./http-transport.ts";
import { readNodeUrl } from "./node-url.ts";
import { WebSocketTransport } from "./websocket-transport.ts";

export type { CallOptions } from "./call-options.ts";
export type { BatchCall, Client, Subscription } from "./client.ts";
export type { ChainEvent, EventData } from "./events.ts";
export type * from "./methods.ts";
export { RpcError, type RpcErrorData } from "./rpc-error.ts";

export interface ClientOptions {
  /**
   * Where the node serves JSON-RPC: http:// or https:// for calls, ws:// or wss:// for calls and events. The name and the password of a
   * user in it are sent as those of HTTP's Basic authentication, for whatever stands before the node.
   */
  readonly url: string;
  /** What the node wants of its callers, if it has a token. Browsers can send none over a WebSocket. */
  readonly token?: string;
}

/** A client of a running node. It connects when it is first asked something. */
export function createClient({ url, token }: ClientOptions): Client {
  const { protocol, address, authorization } = readNodeUrl(url);
  const given = token === undefined ? authorization : `Bearer ${token}`;
  const headers: Record<string, string> = given === undefined ? {} : { Authorization: given };
  const Way = protocol.startsWith("ws") ? WebSocketTransport : HttpTransport;
  return clientOver(new Way(address, headers));
}
