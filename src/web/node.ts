import { type Client, createClient } from "../client/index.ts";

const TOKEN_KEY = "fanal-token";

/** A token that the reader gave to this page, for as long as it is open. */
const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;

/**
 * Events need a WebSocket, over which browsers send no token: a node that wants one is asked over HTTP, and what it tells is as
 * new as the last question.
 */
export const hasEvents = token === undefined;

export const node: Client = createClient(
  token === undefined ? { url: location.origin.replace(/^http/, "ws") } : { url: location.origin, token },
);

/** Whether the node answers nobody without a token. The WebSocket of a browser does not tell why it was refused. */
export async function wantsToken(): Promise<boolean> {
  const { status } = await fetch("/", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBeaconHead", params: [] }),
  });
  return status === 401;
}

export function useToken(given: string): void {
  sessionStorage.setItem(TOKEN_KEY, given);
  location.reload();
}
