import { HttpClient } from "../http-client/http-client.ts";
import { readBody } from "../http-client/response.ts";
import type { Logger } from "../log/logger.ts";

/** It only matters for a line in the log. */
const PATIENCE_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Warns when the node that gave a checkpoint state has not caught up with the chain itself: what it holds to be final may be old. */
export async function warnOfSyncingProvider(
  api: string,
  stateSlot: number,
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<void> {
  const syncing = await readSyncing(api, signal);
  if (syncing?.is_syncing !== true) return;
  logger.warn(
    "The node that gave the checkpoint state is syncing itself, so that its state may be far behind the chain: take one of a node that is synced",
    { node: api, stateSlot, headSlot: syncing.head_slot, behind: syncing.sync_distance },
  );
}

/** Undefined where nobody says so, as by a server that gives states and is no beacon node. */
async function readSyncing(api: string, signal: AbortSignal | undefined): Promise<Record<string, unknown> | undefined> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const { pathname } = new URL("eth/v1/node/syncing", api);
  const client = new HttpClient(api);
  try {
    const headers = { accept: "application/json" };
    const { body } = await client.request(
      { method: "GET", path: pathname, headers },
      { signal: signal ? AbortSignal.any([signal, patience]) : patience },
    );
    const answer = JSON.parse(String(await readBody(body, MAX_ANSWER_BYTES))) as {
      data?: Record<string, unknown>;
    } | null;
    return answer?.data;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  } finally {
    client.close();
  }
}
