import { describe, expect, it } from "vitest";
import { flushPromises } from "../../../test/support/fake-timers.ts";
import { questionOf } from "./question.test-support.ts";
import { json, type ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { failureOf, HEDGE_MILLIS, openUpstreams } from "./upstreams.test-support.ts";

const LATE = { fitness: "late", reasons: ["It did not answer."] } as const;

const refuse = (upstream: ScriptedUpstream) => {
  upstream.handler = (_request, response) => json(response, { code: 404, message: "Block not found" }, 404);
};

describe("a refusal that another upstream might know better", () => {
  it.each([
    ["cheap", 1000],
    ["state", 10_000],
  ] as const)("of what is %s is given after %i ms when that one hangs", async (cost, millis) => {
    const { upstreams, conditions, timers, server } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
    refuse(server("a"));
    server("b").isFrozen = true;
    const arrived = server("b").received("/eth/v1/x");
    let isGiven = false;
    const answer = upstreams.read(questionOf({ method: { cost } })).finally(() => {
      isGiven = true;
    });
    await arrived;
    await timers.advance(millis - 100);
    expect(isGiven).toBe(false);
    await timers.advance(200);
    expect(await answer).toMatchObject({ upstream: "a", status: 404 });
  });

  it("is given after as long when it is of the second that was asked, the first of which hangs", async () => {
    const { upstreams, conditions, timers, server, events } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
    server("a").isFrozen = true;
    refuse(server("b"));
    const answer = upstreams.read(questionOf());
    await timers.advance(HEDGE_MILLIS + 10);
    while (!events.includes("b 404")) await flushPromises();
    await timers.advance(1100);
    expect(await answer).toMatchObject({ upstream: "b", status: 404 });
  });

  it("is confirmed by another one of its tier, if one is ready there", async () => {
    const { upstreams, conditions, server } = await openUpstreams({
      names: ["a", "b", "c"],
      upstreamOptions: { c: { tier: 1 } },
    });
    for (const name of ["a", "b", "c"]) refuse(server(name));
    for (let i = 0; i < 4; i++) expect(await upstreams.read(questionOf())).toMatchObject({ status: 404 });
    expect(server("c").questions).toEqual([]);
    conditions.set("b", { fitness: "behind" });
    await upstreams.read(questionOf());
    expect(server("c").questions).toHaveLength(1);
  });

  it("is given at once when there is none but one that is late", async () => {
    const { upstreams, conditions, server } = await openUpstreams();
    conditions.set("b", LATE);
    refuse(server("a"));
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "a", status: 404 });
    expect(server("b").questions).toEqual([]);
  });

  it("is given at once when the first that was asked has become late meanwhile", async () => {
    const { upstreams, conditions, timers, server } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
    server("a").isFrozen = true;
    refuse(server("b"));
    const arrived = server("a").received("/eth/v1/x");
    const answer = upstreams.read(questionOf());
    await arrived;
    conditions.set("a", LATE);
    await timers.advance(HEDGE_MILLIS + 10);
    expect(await answer).toMatchObject({ upstream: "b", status: 404 });
  });
});

describe("upstreams that are late", () => {
  it("are waited for, but not for ever when all are: the failure says so of each", async () => {
    const { upstreams, conditions, timers, server } = await openUpstreams();
    for (const name of ["a", "b"]) {
      server(name).isFrozen = true;
      conditions.set(name, LATE);
    }
    const failure = failureOf(upstreams.read(questionOf()));
    await timers.advance(21_000);
    expect(await failure).toMatchObject({
      kind: "unavailable",
      message: "No upstream can answer. a did not answer within 10 s. b did not answer within 10 s.",
    });
    expect([server("a").questions.length, server("b").questions.length]).toEqual([1, 1]);
  });

  it("are waited for as long where several have to answer", async () => {
    const { upstreams, conditions, timers, server } = await openUpstreams();
    server("b").isFrozen = true;
    conditions.set("b", LATE);
    const answers = upstreams.readFromSeveral(questionOf(), 2);
    await timers.advance(11_000);
    expect(await answers).toMatchObject([
      { value: { upstream: "a" } },
      { reason: { message: "No other upstream can answer. b did not answer within 10 s." } },
    ]);
  });
});
