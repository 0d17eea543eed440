import { type Client, clientOver } from "./client.ts";
import { HttpTransport } from "./http-transport.ts";
import { WebSocketTransport } from "./websocket-transport.ts";

export type { CallOptions } from "./call-options.ts";
export type { BatchCall, Client, Subscription } from "./client.ts";
export type { ChainEvent, EventData } from "./events.ts";
export type * from "./methods.ts";
export { RpcError, type RpcErrorData } from "./rpc-error.ts";

export interface ClientOptions {
  /** Where the node serves JSON-RPC: http:// or https:// for calls, ws:// or wss:// for calls and events. */
  readonly url: string;
  /** What the node wants of its callers, if it has a token. Browsers can send none over a WebSocket. */
  readonly token?: string;
}

/** A client of a running node. It connects when it is first asked something. */
export function createClient({ url, token }: ClientOptions): Client {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  if (/^https?:$/.test(protocol)) return clientOver(new HttpTransport(url, headers));
  if (/^wss?:$/.test(protocol)) return clientOver(new WebSocketTransport(url, headers));
  throw new Error(`"${url}" is no URL of a node, which begins with http://, https://, ws:// or wss://.`);
}
