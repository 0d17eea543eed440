import { setTimeout as sleep } from "node:timers/promises";
import { isLoopbackHost } from "../../server/http/access/loopback.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import { NoResponseError } from "./request.ts";

const RETRY_MS = 200;

interface StartingNode {
  url: string;
  /** Fails immediately if 0. */
  waitSeconds: number;
  /** False while the node is warming up or syncing. */
  isReady(): Promise<boolean>;
  /** Reports that the call is waiting. */
  onWait(text: string): void;
}

/**
 * Sends a request. A refused connection to a port on this machine may mean that the node is still starting. In that
 * case, waits until the node is ready and resends the request.
 */
export async function sendOnceStarted<T>(
  send: () => Promise<T>,
  { url, waitSeconds, isReady, onWait }: StartingNode,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (waitSeconds === 0 || !isRefusedByThisMachine(error, url)) throw error;
  }
  onWait(`Waiting up to ${waitSeconds} seconds for a node at ${withoutCredentials(url)}.`);
  const end = performance.now() + waitSeconds * 1000;
  for (;;) {
    await sleep(RETRY_MS);
    const isStarted = await isReady().catch((error: unknown) => !isRefusedByThisMachine(error, url));
    if (isStarted || performance.now() >= end) return send();
  }
}

function isRefusedByThisMachine(error: unknown, url: string): boolean {
  if (!(error instanceof NoResponseError)) return false;
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code === "ECONNREFUSED" && isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ""));
}
