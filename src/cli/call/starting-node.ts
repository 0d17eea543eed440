import { setTimeout as sleep } from "node:timers/promises";
import { isLoopbackHost } from "../../server/http/access/loopback.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import { NoResponseError } from "./request.ts";

const RETRY_MS = 200;

interface StartingNode {
  url: string;
  /** 0 fails at once. */
  waitSeconds: number;
  /** Reports the wait, once. */
  onWait(text: string): void;
}

/** Repeats a request while a port of this machine refuses connections, as that of a starting node does. */
export async function retryWhileStarting<T>(
  send: () => Promise<T>,
  { url, waitSeconds, onWait }: StartingNode,
): Promise<T> {
  let end: number | undefined;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const now = performance.now();
      const isStarting = waitSeconds > 0 && isRefusedByThisMachine(error, url) && (end === undefined || now < end);
      if (!isStarting) throw error;
      if (end === undefined) onWait(`Waiting up to ${waitSeconds} seconds for a node at ${withoutCredentials(url)}.`);
      end ??= now + waitSeconds * 1000;
    }
    await sleep(RETRY_MS);
  }
}

function isRefusedByThisMachine(error: unknown, url: string): boolean {
  if (!(error instanceof NoResponseError)) return false;
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code === "ECONNREFUSED" && isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ""));
}
