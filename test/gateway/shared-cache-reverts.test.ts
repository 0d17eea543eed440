import { describe, expect, it } from "vitest";
import type { UpstreamCall } from "../../src/gateway/upstream/upstream-call.ts";
import { CHAIN_SPEC, finalAnswer, response } from "../support/gateway/cache/method-calls.ts";
import { missingRedis } from "../support/gateway/redis-process.ts";
import { RedisServer } from "../support/gateway/redis-server.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";
import { flushPromises } from "../support/time/fake-timers.ts";
import { block, bodiesOf, CachingGateway, Upstream, untilStored } from "./caching-gateway.ts";

describe("shared cache after a finality revert", () => {
  skipSuite(missingRedis());

  it("drops the responses of the chain after a finality revert, and no others", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const gateways = [
      await CachingGateway.open(redis.url, upstream),
      await CachingGateway.open(redis.url, upstream),
    ] as const;
    const otherSpec = { ...CHAIN_SPEC, genesisTime: CHAIN_SPEC.genesisTime + 1 };
    const otherChain = await CachingGateway.open(redis.url, upstream, otherSpec);
    await otherChain.reader.read(block(1));
    for (let slot = 1; slot <= 3; slot++) await gateways[0].reader.read(block(slot));
    await untilStored(redis, 4);

    const newBody = (call: UpstreamCall) => finalAnswer(`"another branch: ${call.request.url}"`);
    upstream.respond = async (call) => response(newBody(call));
    gateways[0].health.finalityReverts++;
    expect(bodiesOf([await gateways[0].reader.read(block(1))])).toEqual([newBody(block(1))]);
    await untilStored(redis, 1);
    expect(await redis.keys()).toEqual([expect.stringContaining(String(otherSpec.genesisTime))]);
    expect(bodiesOf([await gateways[1].reader.read(block(1))])).toEqual([newBody(block(1))]);
    await untilStored(redis, 2);
    expect((await otherChain.reader.read(block(1))).cachedIn).toBe("memory");
  });

  it("drops them without a read, when the gateway closes, and when a process replaces it", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const store = async () => {
      await (await CachingGateway.open(redis.url, upstream)).reader.read(block(1));
      await untilStored(redis, 1);
    };
    const idle = await CachingGateway.open(redis.url, upstream, CHAIN_SPEC, { timeoutFactor: 1 });
    idle.timeoutFactor = 50;
    await store();
    idle.health.finalityReverts++;
    await untilStored(redis, 0);
    const ending = await CachingGateway.open(redis.url, upstream);
    await store();
    ending.health.finalityReverts++;
    await ending.reader.close();
    expect(await redis.keys()).toEqual([]);
    await store();
    const replacing = await CachingGateway.open(redis.url, upstream, CHAIN_SPEC, { finalityReverts: 1 });
    expect((await replacing.reader.read(block(1))).cachedIn).toBeUndefined();
    await untilStored(redis, 0);
  });

  it("ignores a response that was looked up before a finality revert", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    await (await CachingGateway.open(redis.url, upstream)).reader.read(block(1));
    await untilStored(redis, 1);
    const gateway = await CachingGateway.open(redis.url, upstream);
    redis.freeze();
    const read = gateway.reader.read(block(1));
    await flushPromises();
    gateway.health.finalityReverts++;
    redis.thaw();
    expect((await read).cachedIn).toBeUndefined();
  });
});
