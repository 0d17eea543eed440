import { RedisProcess } from "../../test/support/gateway/redis-process.ts";
import { percent, printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Load, restRequest } from "./load.ts";
import type { LoadOrder } from "./load-process.ts";
import type { GatewayBenchOptions } from "./options.ts";
import { serveGateway, serveStillChain } from "./programs.ts";

const WORKER_COUNTS = [1, 2, 4];
const CONNECTIONS = 64;
const VALIDATORS = 64;
/** The first reads fill Redis. Until then, the node replays old states. */
const MAX_FILLING_RUNS = 30;
const FILLED_SHARE = 0.98;

/**
 * Measures reads from Redis: final answers that do not fit into the gateway's memory of 1 MiB. They are requested in
 * turn, so that each one is evicted from memory before it is requested again.
 */
export async function benchRedis({ rounds, seconds }: GatewayBenchOptions): Promise<boolean> {
  return withTempDirectory(async (directory) => {
    const redis = await RedisProcess.open();
    const node = await serveStillChain(directory);
    const load = await Load.start();
    try {
      const requests = requestsOn(Number((await node.process.head()).finalized_slot));
      printHeader("processes", "requests/s", "from Redis", "Redis, CPU µs", "Redis, share of a core");
      for (const workers of WORKER_COUNTS) {
        const flags = ["--cache", redis.url, "--memory", "1", "--workers", String(workers)];
        const gateway = await serveGateway({ node: node.restUrl }, flags);
        try {
          const order = { port: gateway.ports.REST, requests, connections: CONNECTIONS, seconds };
          const run = () => measure(load, order, redis);
          for (let runs = 0; runs < MAX_FILLING_RUNS; runs++) {
            const { hits, count } = await run();
            if (hits / count >= FILLED_SHARE) break;
          }
          const sum = { count: 0, hits: 0, cpuSeconds: 0, elapsed: 0 };
          for (let round = 0; round < rounds; round++) {
            const measured = await run();
            for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += measured[name];
          }
          const { count, hits, cpuSeconds, elapsed } = sum;
          printRow(
            String(workers),
            (count / elapsed).toFixed(0),
            percent(hits / count),
            ((cpuSeconds * 1e6) / count).toFixed(1),
            percent(cpuSeconds / elapsed),
          );
        } finally {
          await gateway.process.stop();
        }
      }
      return true;
    } finally {
      await load.end();
      await node.process.stop();
      await redis.end();
    }
  });
}

/** Runs a load and returns its use of Redis. */
async function measure(load: Load, order: LoadOrder, redis: RedisProcess) {
  const before = await usageOf(redis);
  const { millis, failures, seconds: elapsed } = await load.run(order);
  const after = await usageOf(redis);
  if (failures.length > 0) throw new Error(`${failures.length} requests failed; the first: ${failures[0]}`);
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return { count: millis.length, hits: after.hits - before.hits, cpuSeconds, elapsed };
}

function requestsOn(finalizedSlot: number): string[] {
  const slots = Array.from({ length: finalizedSlot - 1 }, (_, index) => index + 1);
  return slots.flatMap((slot) =>
    Array.from({ length: VALIDATORS }, (_, index) => restRequest(`/eth/v1/beacon/states/${slot}/validators/${index}`)),
  );
}

/** Reads the CPU time and the number of key hits from Redis. */
async function usageOf(redis: RedisProcess): Promise<{ cpuSeconds: number; hits: number }> {
  const info = String(await redis.command("INFO"));
  const field = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1] ?? Number.NaN);
  return { cpuSeconds: field("used_cpu_user") + field("used_cpu_sys"), hits: field("keyspace_hits") };
}
