import { describe, expect, it } from "vitest";
import { failureOf, HEDGE_MILLIS, openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { json, type ScriptedUpstream } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { flushPromises } from "../../../../test/support/time/fake-timers.ts";

const LATE = { state: "late", reasons: ["It did not answer."] } as const;

const refuse = (upstream: ScriptedUpstream) => {
  upstream.handler = (_request, response) => json(response, { code: 404, message: "Block not found" }, 404);
};

describe("an unconfirmed rejection", () => {
  it.each([
    ["cheap", 1000],
    ["state", 10_000],
  ] as const)("of a %s read is returned after %i ms when the other upstream hangs", async (cost, millis) => {
    const { upstreams, health, timers, server } = await openPool();
    health.set("b", { state: "behind" });
    refuse(server("a"));
    server("b").isFrozen = true;
    const arrived = server("b").received("/eth/v1/x");
    let isGiven = false;
    const answer = upstreams.read(createCall({ method: { cost } })).finally(() => {
      isGiven = true;
    });
    await arrived;
    await timers.advance(millis - 100);
    expect(isGiven).toBe(false);
    await timers.advance(200);
    expect(await answer).toMatchObject({ upstream: "a", status: 404 });
  });

  it("is returned after the same time when the first upstream hangs", async () => {
    const { upstreams, health, timers, server, events } = await openPool();
    health.set("b", { state: "behind" });
    server("a").isFrozen = true;
    refuse(server("b"));
    const answer = upstreams.read(createCall());
    await timers.advance(HEDGE_MILLIS + 10);
    while (!events.includes("b 404")) await flushPromises();
    await timers.advance(1100);
    expect(await answer).toMatchObject({ upstream: "b", status: 404 });
  });

  it("is confirmed in the same tier if possible", async () => {
    const { upstreams, health, server } = await openPool({
      names: ["a", "b", "c"],
      upstreamOptions: { c: { tier: 1 } },
    });
    for (const name of ["a", "b", "c"]) refuse(server(name));
    for (let i = 0; i < 4; i++) expect(await upstreams.read(createCall())).toMatchObject({ status: 404 });
    expect(server("c").questions).toEqual([]);
    health.set("b", { state: "behind" });
    await upstreams.read(createCall());
    expect(server("c").questions).toHaveLength(1);
  });

  it("is returned at once when only a late upstream is left", async () => {
    const { upstreams, health, server } = await openPool();
    health.set("b", LATE);
    refuse(server("a"));
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "a", status: 404 });
    expect(server("b").questions).toEqual([]);
  });

  it("is returned at once when the first upstream has become late", async () => {
    const { upstreams, health, timers, server } = await openPool();
    health.set("b", { state: "behind" });
    server("a").isFrozen = true;
    refuse(server("b"));
    const arrived = server("a").received("/eth/v1/x");
    const answer = upstreams.read(createCall());
    await arrived;
    health.set("a", LATE);
    await timers.advance(HEDGE_MILLIS + 10);
    expect(await answer).toMatchObject({ upstream: "b", status: 404 });
  });
});

describe("late upstreams", () => {
  it("time out, with the reason of each", async () => {
    const { upstreams, health, timers, server } = await openPool();
    for (const name of ["a", "b"]) {
      server(name).isFrozen = true;
      health.set(name, LATE);
    }
    const failure = failureOf(upstreams.read(createCall()));
    await timers.advance(21_000);
    expect(await failure).toMatchObject({
      kind: "unavailable",
      message: "No upstream is available. a did not answer within 10 s. b did not answer within 10 s.",
    });
    expect([server("a").questions.length, server("b").questions.length]).toEqual([1, 1]);
  });
});
