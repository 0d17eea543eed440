import { type Client, createClient } from "../client/index.ts";

const TOKEN_KEY = "fanal-token";

/** Token entered by the user, kept until the page is closed. */
const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;

/** False if there is a token: browsers cannot send tokens over a WebSocket, so the node is polled over HTTP instead. */
export const hasEvents = token === undefined;

/** URL of the JSON-RPC server, which also serves the page. Behind a gateway, the path may be a client key. */
export const url = location.origin + location.pathname.replace(/\/$/, "");

export const node: Client = createClient(token === undefined ? { url: url.replace(/^http/, "ws") } : { url, token });

/** Returns the results of a batch. Throws the first error, if any. */
export function resultsOf<T>(answers: readonly T[]): Exclude<T, Error>[] {
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer as Exclude<T, Error>;
  });
}

/** Checks whether the server requires a token or key. A WebSocket does not report why it was rejected. */
export async function requiresToken(): Promise<boolean> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBeaconHead", params: [] }),
  });
  return status === 401;
}

export function useToken(entered: string): void {
  sessionStorage.setItem(TOKEN_KEY, entered);
  location.reload();
}
