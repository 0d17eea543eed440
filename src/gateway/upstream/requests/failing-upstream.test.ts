import { describe, expect, it } from "vitest";
import { CHAIN_SPEC, methodCall } from "../../../../test/support/gateway/cache/method-calls.ts";
import { openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { json } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";

describe("a ready upstream that fails reads", () => {
  const fail = (_request: unknown, response: Parameters<typeof json>[0]) => json(response, { message: "broken" }, 500);

  it("is asked once in 40 sequential reads, and again a minute later", async () => {
    const { upstreams, server, timers } = await openPool();
    server("a").handler = fail;
    for (let read = 0; read < 40; read++) {
      expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
    }
    expect(server("a").questions).toHaveLength(1);
    await timers.advance(60_000);
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
    expect(server("a").questions).toHaveLength(2);
  });

  it("opens its circuit under load, is probed, and returns once it is mended", async () => {
    const { upstreams, server, timers, events } = await openPool();
    server("a").handler = fail;
    const burst = () => Promise.all(Array.from({ length: 20 }, () => upstreams.read(createCall())));
    for (const { upstream } of await burst()) expect(upstream).toBe("b");
    expect(events.filter((event) => event === "circuit of a open")).toHaveLength(1);
    const requestCount = () => server("a").questions.length;
    const before = requestCount();
    await burst();
    expect(requestCount()).toBe(before);
    await timers.advance(1000);
    await burst();
    expect(requestCount()).toBe(before + 1);
    server("a").handler = (_request, response) => json(response, { data: {} });
    await timers.advance(30_000);
    const isBalanced = async () => (await burst()).filter(({ upstream }) => upstream === "a").length === 10;
    for (let probe = 0; probe < 3; probe++) {
      expect(await isBalanced()).toBe(false);
      expect(requestCount()).toBe(before + 2 + probe);
      await timers.advance(1000);
    }
    expect(await isBalanced()).toBe(true);
  });

  it("is not avoided for a request that every upstream fails", async () => {
    const { upstreams, server, events } = await openPool();
    for (const name of ["a", "b"]) server(name).handler = fail;
    for (let read = 0; read < 10; read++) expect(await upstreams.read(createCall())).toMatchObject({ status: 500 });
    for (const name of ["a", "b"]) expect(server(name).questions).toHaveLength(10);
    expect(events).not.toContain("circuit of a open");
  });

  it("is avoided for invalid answers too", async () => {
    const { upstreams, server } = await openPool();
    server("a").handler = (_request, response) => json(response, { error: "quota" });
    for (let read = 0; read < 10; read++) {
      expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
    }
    expect(server("a").questions).toHaveLength(1);
  });

  it("fails over if the constants of an upstream are not those of the network", async () => {
    const { upstreams, server, events } = await openPool();
    const spec = { PRESET_BASE: CHAIN_SPEC.presetBase, GENESIS_FORK_VERSION: "0x00000001" };
    const answer = (slots: number) => (_request: unknown, response: Parameters<typeof json>[0]) =>
      json(response, { data: { ...spec, SLOTS_PER_EPOCH: String(slots) } });
    server("a").handler = answer(CHAIN_SPEC.slotsPerEpoch + 1);
    server("b").handler = answer(CHAIN_SPEC.slotsPerEpoch);
    expect(await upstreams.read(methodCall("get_v1_config_spec"))).toMatchObject({ upstream: "b", status: 200 });
    expect(events).toEqual(["a invalid", "not a: failed", "b 200"]);
  });
});
