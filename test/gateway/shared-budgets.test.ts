import { hash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../src/async/timers.ts";
import { RedisBudgetStore } from "../../src/gateway/clients/budget-store.ts";
import { ClientRegistry } from "../../src/gateway/clients/client-registry.ts";
import { MethodPolicies } from "../../src/gateway/policies/method-policies.ts";
import type { BudgetSettings, CacheSettings } from "../../src/gateway/settings.ts";
import { missingRedis } from "../support/gateway/redis-process.ts";
import { RedisServer } from "../support/gateway/redis-server.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";

const METHOD = { name: "getChainHead", access: "read" } as const;
/** Fixed time in the middle of a second. */
const timers = { ...SYSTEM_TIMERS, unixNow: () => 1_800_000_000_500 };

/** The clients of one gateway. */
async function openRegistry(cache: CacheSettings, budgets: Readonly<Record<string, BudgetSettings>>) {
  const logger = createRecordingLogger();
  const store = new RedisBudgetStore({ cache, timers, logger });
  onTestFinished(() => store.close());
  const registry = new ClientRegistry({ store, timers });
  const clients = Object.entries(budgets).map(([name, budget]) => {
    return { name, keyHash: hash("sha256", name), classes: ["read"] as const, budget };
  });
  registry.update(clients, new MethodPolicies([{ pattern: METHOD.name, units: 5 }], []));
  // Until it is connected, each gateway counts on its own.
  await expect.poll(() => store.isShared).toBe(true);
  return registry;
}

/** Returns how many of the calls are admitted, sent to both gateways in turn. */
async function admitted(gateways: readonly ClientRegistry[], key: string, calls: number): Promise<number> {
  const rejections = await Promise.all(
    Array.from({ length: calls }, (_, index) => gateways[index % gateways.length]!.find(key)!.charge(METHOD)),
  );
  return rejections.filter((rejection) => rejection === undefined).length;
}

describe("budgets of two gateways with one Redis", () => {
  skipSuite(missingRedis());

  it("admit the limits of two keys within 2 %", async () => {
    const redis = await RedisServer.start();
    const cache = { url: redis.url, prefix: "test:", ttlSeconds: 60 };
    const budgets = { requests: { requestsPerSecond: 1000, requestsPerDay: 3000 }, units: { unitsPerDay: 10_000 } };
    const gateways = [await openRegistry(cache, budgets), await openRegistry(cache, budgets)];
    const counts = [await admitted(gateways, "requests", 2500), await admitted(gateways, "units", 5000)];
    for (const [index, limit] of [1000, 2000].entries()) {
      expect(counts[index]).toBeLessThanOrEqual(limit);
      expect(counts[index]).toBeGreaterThanOrEqual(limit * 0.98);
    }
    // A restarted gateway finds the counters.
    const restarted = await openRegistry(cache, budgets);
    expect(await admitted([restarted], "units", 100)).toBeLessThanOrEqual(2000 - counts[1]!);
  });

  it("are counted by each gateway on its own while Redis is down", async () => {
    const redis = await RedisServer.start();
    const cache = { url: redis.url, prefix: "test:", ttlSeconds: 60 };
    const registry = await openRegistry(cache, { a: { requestsPerDay: 10 } });
    expect(await admitted([registry], "a", 4)).toBe(4);
    await redis.end();
    // It continues from the last shared count.
    expect(await admitted([registry], "a", 30)).toBe(6);
  });
});
