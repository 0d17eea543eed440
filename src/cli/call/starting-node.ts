import { setTimeout as sleep } from "node:timers/promises";
import { isLoopbackHost } from "../../server/http/access/loopback.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import { NoResponseError } from "./request.ts";

const RETRY_MS = 200;

interface StartingNode {
  url: string;
  /** 0 fails immediately. */
  waitSeconds: number;
  /** False while the node warms up or syncs. */
  isReady(): Promise<boolean>;
  /** Reports the wait. */
  onWait(text: string): void;
}

/**
 * Sends a request. If a port of this machine refuses the connection, the node may be starting: waits until it is ready
 * and sends the request again.
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
