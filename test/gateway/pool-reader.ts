import { onTestFinished } from "vitest";
import { CachingReader } from "../../src/gateway/cache/caching-reader.ts";
import type { ChainSpec } from "../../src/gateway/network/chain-spec.ts";
import { QuorumReader } from "../../src/gateway/upstream/requests/quorum.ts";
import { UpstreamPool } from "../../src/gateway/upstream/requests/upstream-pool.ts";
import type { UpstreamCall } from "../../src/gateway/upstream/upstream-call.ts";
import { CHAIN_SPEC } from "../support/gateway/cache/method-calls.ts";
import { patientTimers } from "../support/gateway/cache/patient-timers.ts";
import { ScriptedHealth } from "../support/gateway/upstream/scripted-health.ts";
import type { ScriptedUpstream } from "../support/gateway/upstream/scripted-upstream.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";

interface ReaderOptions {
  upstreams: ScriptedUpstream[];
  quorum?: number;
  redisUrl?: string | undefined;
  chainSpec?: ChainSpec;
  memoryBytes?: number;
}

/** Opens the part of a gateway between its servers and its upstreams. */
export async function openReader({
  upstreams,
  quorum = 1,
  redisUrl,
  chainSpec = CHAIN_SPEC,
  memoryBytes = 16 * 1024 * 1024,
}: ReaderOptions): Promise<CachingReader> {
  const health = new ScriptedHealth(...upstreams.map(({ name }) => name));
  const timers = patientTimers();
  const logger = createRecordingLogger();
  const settings = {
    upstreams: upstreams.map(({ options }) => options),
    broadcast: 1,
    // The wrong upstream is always used first, without hedging.
    hedgeDelayMillis: 60_000,
    validation: true,
    quorum,
    memoryBytes,
    ...(redisUrl && { cache: { url: redisUrl, prefix: "test:", ttlSeconds: 60 } }),
  };
  const pool = new UpstreamPool({ settings, health, timers, logger, chainSpec });
  const quorumReader = new QuorumReader({ upstreams: pool, settings, timers });
  const isUp = Promise.withResolvers<void>();
  const reader = new CachingReader({
    fetch: (call) => quorumReader.read(call),
    revision: new Int32Array(2),
    chainSpec,
    settings,
    health,
    timers,
    logger,
    observer: { onCacheLookup: () => {}, onCacheState: () => isUp.resolve() },
  });
  onTestFinished(async () => {
    await reader.close();
    await pool.close();
  });
  if (redisUrl) await isUp.promise;
  return reader;
}

/** Reads a whole answer. */
export async function readWhole(reader: CachingReader, call: UpstreamCall) {
  const { upstream, body, cachedIn } = await reader.read(call);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body));
  return { upstream, body: String(bytes), cachedIn };
}
