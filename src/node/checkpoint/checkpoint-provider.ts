import { HttpClient } from "../../http-client/http-client.ts";
import { readBody } from "../../http-client/response.ts";
import type { Logger } from "../../log/logger.ts";

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Warns if the checkpoint provider is itself syncing, since its finalized state may be old. */
export async function warnIfProviderSyncing(
  api: string,
  stateSlot: number,
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<void> {
  const syncing = await readSyncing(api, signal);
  if (syncing?.is_syncing !== true) return;
  logger.warn("Checkpoint provider is still syncing, its state may be old", {
    provider: api,
    stateSlot,
    headSlot: syncing.head_slot,
    syncDistance: syncing.sync_distance,
  });
}

/** Returns undefined if the provider has no syncing status, since some providers serve only states. */
async function readSyncing(api: string, signal: AbortSignal | undefined): Promise<Record<string, unknown> | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const { pathname } = new URL("eth/v1/node/syncing", api);
  const client = new HttpClient(api);
  try {
    const headers = { accept: "application/json" };
    const { body } = await client.request(
      { method: "GET", path: pathname, headers },
      { signal: signal ? AbortSignal.any([signal, timeout]) : timeout },
    );
    const response = JSON.parse(String(await readBody(body, MAX_RESPONSE_BYTES))) as {
      data?: Record<string, unknown>;
    } | null;
    return response?.data;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  } finally {
    client.close();
  }
}
