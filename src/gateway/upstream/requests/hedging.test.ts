import { describe, expect, it } from "vitest";
import {
  answersOf,
  failureOf,
  HEDGE_MILLIS,
  openPool,
} from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { json } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { flushPromises } from "../../../../test/support/time/fake-timers.ts";
import { Failure } from "../../../errors/failure.ts";

describe("a slow read", () => {
  /** Starts a read that has arrived at `a`, which does not answer. */
  async function readFromFrozen(
    setting: Awaited<ReturnType<typeof openPool>>,
    options: Parameters<typeof createCall>[0] = {},
  ) {
    const { health, server, upstreams } = setting;
    server("a").isFrozen = true;
    health.set("b", { state: "behind" });
    const arrived = server("a").received("/eth/v1/x");
    const answer = upstreams.read(createCall(options));
    await arrived;
    health.set("b", {});
    return { answer };
  }

  it("is hedged, and the first response wins", async () => {
    const setting = await openPool();
    const { timers, server, events } = setting;
    const { answer } = await readFromFrozen(setting);
    await timers.advance(HEDGE_MILLIS - 10);
    expect(server("b").questions).toEqual([]);
    await timers.advance(20);
    expect(await answer).toMatchObject({ upstream: "b" });
    expect(events).toEqual(["not a: slow", "b 200"]);
  });

  it("is hedged after the p95 latency of the upstream", async () => {
    const setting = await openPool();
    const { timers, server, health, upstreams } = setting;
    health.set("b", { state: "down" });
    server("a").handler = (_request, response) => void timers.advance(200).then(() => json(response, { data: {} }));
    for (let i = 0; i < 32; i++) await upstreams.read(createCall());
    const { answer } = await readFromFrozen(setting);
    await timers.advance(190);
    expect(server("b").questions).toEqual([]);
    await timers.advance(20);
    expect(await answer).toMatchObject({ upstream: "b" });
  });

  it("is hedged for one in ten reads, and avoids an unresponsive upstream", async () => {
    const setting = await openPool();
    const { timers, server, events, upstreams, health } = setting;
    health.set("b", { state: "behind" });
    server("a").isFrozen = true;
    const reads = Array.from({ length: 100 }, () => upstreams.read(createCall()));
    while (server("a").requests.length < 100) await flushPromises();
    await timers.advance(HEDGE_MILLIS + 10);
    const hedged = events.filter((event) => event === "not a: slow").length;
    expect(hedged).toBeGreaterThanOrEqual(20);
    expect(hedged).toBeLessThanOrEqual(30);
    while (events.filter((event) => event === "b 200").length < hedged) await flushPromises();
    await timers.advance(200);
    expect((await Promise.all(reads)).every(({ upstream }) => upstream === "b")).toBe(true);
    expect(await answersOf(() => upstreams.read(createCall()), 3)).toEqual({ b: 3 });
  });

  it("is not hedged early if heavy or producing a block, but fails over", async () => {
    const url = "/eth/v3/validator/blocks/7";
    for (const options of [{ url: "/eth/v1/x", method: { cost: "heavy" } }, { url }] as const) {
      const setting = await openPool();
      const { timers, server, health, upstreams } = setting;
      server("a").isFrozen = true;
      health.set("b", { state: "behind" });
      const arrived = server("a").received(options.url);
      const answer = upstreams.read(createCall(options));
      await arrived;
      health.set("b", {});
      await timers.advance("method" in options ? 9000 : 30_000);
      expect(server("b").questions).toEqual([]);
      health.set("a", { state: "down" });
      await timers.advance(1100);
      expect(await answer).toMatchObject({ upstream: "b" });
    }
  });

  it("is hedged after ten seconds without headers if heavy", async () => {
    const setting = await openPool();
    const { answer } = await readFromFrozen(setting, { url: "/eth/v1/x", method: { cost: "heavy" } });
    await setting.timers.advance(11_000);
    expect(await answer).toMatchObject({ upstream: "b" });
  });

  it("retries an upstream that lost a hedge if a quorum needs it", async () => {
    const { upstreams, health, timers, server, events } = await openPool({ names: ["a", "b", "c"] });
    health.set("c", { state: "behind" });
    const arrived = Promise.all(["a", "b"].map((name) => server(name).received("/eth/v1/x")));
    server("a").isFrozen = true;
    let fail = () => {};
    server("b").handler = (_request, response) => {
      fail = () => json(response, { code: 500, message: "It is busy." }, 500);
    };
    const answers = upstreams.readFromMany(createCall(), 2);
    await arrived;
    await timers.advance(HEDGE_MILLIS + 10);
    while (!events.includes("c 200")) await flushPromises();
    server("a").isFrozen = false;
    fail();
    expect(await answers).toMatchObject([{ value: { upstream: "c" } }, { value: { upstream: "a", status: 200 } }]);
  });

  it("is cancelled at the upstream too", async () => {
    const setting = await openPool({ names: ["a"] });
    const over = new AbortController();
    const a = setting.server("a");
    const left = new Promise<void>((resolve) => {
      a.handler = (_request, response) => void response.on("close", resolve);
    });
    const arrived = a.received("/eth/v1/x");
    const answer = failureOf(setting.upstreams.read(createCall({ signal: over.signal })));
    await arrived;
    const reason = new Failure("server", "The client has left.");
    over.abort(reason);
    expect(await answer).toBe(reason);
    await left;
    expect(setting.events).toEqual([]);
  });
});
