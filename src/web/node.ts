import { type Client, createClient } from "../client/index.ts";

const TOKEN_KEY = "fanal-token";

/** Token entered by the user, kept while the page is open. */
const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;

/**
 * False with a token: browsers cannot send one over a WebSocket, so such a node is polled over HTTP.
 */
export const hasEvents = token === undefined;

export const node: Client = createClient(
  token === undefined ? { url: location.origin.replace(/^http/, "ws") } : { url: location.origin, token },
);

/** Checks whether the node requires a token. A browser's WebSocket does not report why it was rejected. */
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
