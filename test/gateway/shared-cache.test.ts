import { describe, expect, it } from "vitest";
import { CHAIN_SPEC, response } from "../support/gateway/cache/method-calls.ts";
import { missingRedis } from "../support/gateway/redis-process.ts";
import { RedisServer } from "../support/gateway/redis-server.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";
import {
  block,
  bodiesOf,
  CachingGateway,
  expectedBody,
  KEY_PREFIX,
  stateRoot,
  Upstream,
  untilStored,
} from "./caching-gateway.ts";

describe("shared cache", () => {
  skipSuite(missingRedis());

  it("fetches a finalized response once for a thousand reads over two gateways", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const { called, release } = upstream.hold();
    const gateways = [await CachingGateway.open(redis.url, upstream), await CachingGateway.open(redis.url, upstream)];
    const reads = Array.from({ length: 1000 }, (_, index) => gateways[index % 2]!.reader.read(block(7)));
    await called;
    release();
    const responses = await Promise.all(reads);
    expect(new Set(bodiesOf(responses))).toEqual(new Set([expectedBody(block(7))]));
    expect(upstream.calls).toHaveLength(1);
    expect(new Set(responses.map(({ cachedIn }) => cachedIn))).toEqual(new Set([undefined, "cache"]));

    await untilStored(redis, 1);
    const later = await CachingGateway.open(redis.url, upstream);
    const first = await later.reader.read(block(7));
    const second = await later.reader.read(block(7));
    expect([first.cachedIn, second.cachedIn]).toEqual(["cache", "memory"]);
    expect(bodiesOf([first, second])).toEqual([expectedBody(block(7)), expectedBody(block(7))]);
    expect(first.headers).toEqual({ "content-type": "application/json" });
    expect(upstream.calls).toHaveLength(1);
    const [key] = await redis.keys();
    expect(key).toBe(`${KEY_PREFIX}answer:GET json /eth/v2/beacon/blocks/7`);
    expect(await redis.command("TTL", key!)).toBeGreaterThan(50);

    const otherChain = await CachingGateway.open(redis.url, upstream, {
      ...CHAIN_SPEC,
      genesisTime: CHAIN_SPEC.genesisTime + 1,
    });
    expect((await otherChain.reader.read(block(7))).cachedIn).toBeUndefined();
  });

  it("separates the responses of gateways with different quorums", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const read = async (quorum: number) => {
      const { reader } = await CachingGateway.open(redis.url, upstream, CHAIN_SPEC, { quorum });
      return (await reader.read(stateRoot(7))).cachedIn;
    };
    for (const [index, quorum] of [1, 2, 3].entries()) {
      expect(await read(quorum)).toBeUndefined();
      await untilStored(redis, index + 1);
      expect(await read(quorum)).toBe("cache");
    }
  });

  it("fetches the response if the lock holder stores nothing or is gone", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const { called, release } = upstream.hold(async () => response('{"data":{},"finalized":false}'));
    const gateways = [await CachingGateway.open(redis.url, upstream), await CachingGateway.open(redis.url, upstream)];
    const reads = gateways.map(({ reader }) => reader.read(stateRoot(7)));
    await called;
    expect(await redis.keys()).toHaveLength(1);
    expect(upstream.calls).toHaveLength(1);
    release();
    expect(new Set(bodiesOf(await Promise.all(reads)))).toEqual(new Set(['{"data":{},"finalized":false}']));
    expect(upstream.calls).toHaveLength(2);

    upstream.respond = async (call) => response(expectedBody(call));
    const claim = `${KEY_PREFIX}claim:GET json /eth/v1/beacon/states/8/root`;
    await redis.command("SET", claim, "claim:0123456789abcdef");
    const waiting = gateways[0]!.reader.read(stateRoot(8));
    await gateways[0]!.onCacheLookup();
    // As if the lock expired.
    await redis.command("DEL", claim);
    expect(bodiesOf([await waiting])).toEqual([expectedBody(stateRoot(8))]);
    // The wait for a lock that never expires is bounded.
    await redis.command("SET", claim.replace("8", "9"), "claim:0123456789abcdef");
    const read = gateways[1]!.reader.read(stateRoot(9));
    await gateways[1]!.onCacheLookup();
    gateways[1]!.now += 2000;
    expect(bodiesOf([await read])).toEqual([expectedBody(stateRoot(9))]);
  });

  it("treats corrupt entries as misses and replaces them", async () => {
    const redis = await RedisServer.start();
    const upstream = new Upstream();
    const calls = [stateRoot(1), stateRoot(2), block(1), block(2)];
    const readAll = async () => {
      const { reader } = await CachingGateway.open(redis.url, upstream);
      const before = upstream.calls.length;
      expect(bodiesOf(await Promise.all(calls.map((call) => reader.read(call))))).toEqual(calls.map(expectedBody));
      return upstream.calls.length - before;
    };
    expect(await readAll()).toBe(4);
    await untilStored(redis, 4);
    expect(await readAll()).toBe(0);
    const keys = await redis.keys();
    const values = (await redis.command("MGET", ...keys)) as Buffer[];
    const areReplaced = async () => {
      const found = (await redis.command("MGET", ...keys)) as (Buffer | null)[];
      return found.every((value, position) => value?.equals(values[position]!));
    };
    const corruptions: ((value: Buffer, position: number) => Buffer)[] = [
      () => Buffer.alloc(0),
      () => Buffer.from("garbage"),
      () => Buffer.from(`\u0001${"garbage".repeat(100)}`),
      (value) => value.subarray(0, -1),
      (value) => value.subarray(0, 30),
      (value) => Buffer.concat([value, Buffer.from("}")]),
      (value) => Buffer.concat([value.subarray(0, 40), Buffer.from("x"), value.subarray(41)]),
      (_, position) => values[(position + 1) % values.length]!,
    ];
    for (const corrupt of corruptions) {
      for (const [position, key] of keys.entries()) {
        await redis.command("SET", key, corrupt(values[position]!, position));
        await redis.command("SET", key.replace(":answer:", ":claim:"), "garbage");
      }
      expect(await readAll()).toBe(4);
      while (!(await areReplaced()));
    }
    for (const key of keys) {
      await redis.command("DEL", key);
      await redis.command("RPUSH", key, "a list");
    }
    expect(await readAll()).toBe(4);
    while (!(await areReplaced()));
    expect(await readAll()).toBe(0);
  });
});
