import { describe, expect, it } from "vitest";
import { flushPromises } from "../../../test/support/fake-timers.ts";
import { Failure } from "../../errors/failure.ts";
import { questionOf } from "./question.test-support.ts";
import { json } from "./scripted-upstream.test-support.ts";
import { answersOf, failureOf, HEDGE_MILLIS, openUpstreams } from "./upstreams.test-support.ts";

describe("a read that takes long", () => {
  /** A read that has come to `a`, which does not answer. */
  async function askFrozen(
    setting: Awaited<ReturnType<typeof openUpstreams>>,
    asked: Parameters<typeof questionOf>[0] = {},
  ) {
    const { conditions, server, upstreams } = setting;
    server("a").isFrozen = true;
    conditions.set("b", { fitness: "behind" });
    const arrived = server("a").received("/eth/v1/x");
    const answer = upstreams.read(questionOf(asked));
    await arrived;
    conditions.set("b", {});
    return { answer };
  }

  it("goes to a second upstream after a while, and the first that answers wins", async () => {
    const setting = await openUpstreams();
    const { timers, server, events } = setting;
    const { answer } = await askFrozen(setting);
    await timers.advance(HEDGE_MILLIS - 10);
    expect(server("b").questions).toEqual([]);
    await timers.advance(20);
    expect(await answer).toMatchObject({ upstream: "b" });
    expect(events).toEqual(["not a: slow", "b 200"]);
  });

  it("waits as long as the upstream is known to take", async () => {
    const setting = await openUpstreams();
    const { timers, server, conditions, upstreams } = setting;
    conditions.set("b", { fitness: "down" });
    server("a").handler = (_request, response) => void timers.advance(200).then(() => json(response, {}));
    for (let i = 0; i < 32; i++) await upstreams.read(questionOf());
    const { answer } = await askFrozen(setting);
    await timers.advance(190);
    expect(server("b").questions).toEqual([]);
    await timers.advance(20);
    expect(await answer).toMatchObject({ upstream: "b" });
  });

  it("is asked twice only of one in ten, until the upstream is stuck: then it goes elsewhere, and nobody else comes to it", async () => {
    const setting = await openUpstreams();
    const { timers, server, events, upstreams, conditions } = setting;
    conditions.set("b", { fitness: "behind" });
    server("a").isFrozen = true;
    const reads = Array.from({ length: 100 }, () => upstreams.read(questionOf()));
    while (server("a").requests.length < 100) await flushPromises();
    await timers.advance(HEDGE_MILLIS + 10);
    const hedged = events.filter((event) => event === "not a: slow").length;
    expect(hedged).toBeGreaterThanOrEqual(20);
    expect(hedged).toBeLessThanOrEqual(30);
    while (events.filter((event) => event === "b 200").length < hedged) await flushPromises();
    await timers.advance(200);
    expect((await Promise.all(reads)).every(({ upstream }) => upstream === "b")).toBe(true);
    expect(await answersOf(() => upstreams.read(questionOf()), 3)).toEqual({ b: 3 });
  });

  it("is not soon asked twice when it is heavy or makes a block, but moves on when its upstream is down", async () => {
    const url = "/eth/v3/validator/blocks/7";
    for (const asked of [{ url: "/eth/v1/x", method: { cost: "heavy" } }, { url }] as const) {
      const setting = await openUpstreams();
      const { timers, server, conditions, upstreams } = setting;
      server("a").isFrozen = true;
      conditions.set("b", { fitness: "behind" });
      const arrived = server("a").received(asked.url);
      const answer = upstreams.read(questionOf(asked));
      await arrived;
      conditions.set("b", {});
      await timers.advance("method" in asked ? 9000 : 30_000);
      expect(server("b").questions).toEqual([]);
      conditions.set("a", { fitness: "down" });
      await timers.advance(1100);
      expect(await answer).toMatchObject({ upstream: "b" });
    }
  });

  it("is asked of another when it is heavy and not even begun after ten seconds", async () => {
    const setting = await openUpstreams();
    const { answer } = await askFrozen(setting, { url: "/eth/v1/x", method: { cost: "heavy" } });
    await setting.timers.advance(11_000);
    expect(await answer).toMatchObject({ upstream: "b" });
  });

  it("goes back to the one that was overtaken where several have to answer, and one of the others fails", async () => {
    const { upstreams, conditions, timers, server, events } = await openUpstreams({ names: ["a", "b", "c"] });
    conditions.set("c", { fitness: "behind" });
    const arrived = Promise.all(["a", "b"].map((name) => server(name).received("/eth/v1/x")));
    server("a").isFrozen = true;
    let fail = () => {};
    server("b").handler = (_request, response) => {
      fail = () => json(response, { code: 500, message: "It is busy." }, 500);
    };
    const answers = upstreams.readFromSeveral(questionOf(), 2);
    await arrived;
    await timers.advance(HEDGE_MILLIS + 10);
    while (!events.includes("c 200")) await flushPromises();
    server("a").isFrozen = false;
    fail();
    expect(await answers).toMatchObject([{ value: { upstream: "c" } }, { value: { upstream: "a", status: 200 } }]);
  });

  it("ends with the reason when nobody waits any more, at the upstream as well", async () => {
    const setting = await openUpstreams({ names: ["a"] });
    const over = new AbortController();
    const a = setting.server("a");
    const left = new Promise<void>((resolve) => {
      a.handler = (_request, response) => void response.on("close", resolve);
    });
    const arrived = a.received("/eth/v1/x");
    const answer = failureOf(setting.upstreams.read(questionOf({ signal: over.signal })));
    await arrived;
    const reason = new Failure("server", "The client has left.");
    over.abort(reason);
    expect(await answer).toBe(reason);
    await left;
    expect(setting.events).toEqual([]);
  });
});
