import { describe, expect, it } from "vitest";
import { failureOf, openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { flushPromises } from "../../../../test/support/time/fake-timers.ts";
import { QuorumReader } from "./quorum.ts";

const CALL = createCall({
  url: "/eth/v1/beacon/states/head/finality_checkpoints",
  params: { state_id: "head" },
  method: { dependsOn: "head" },
});
const LATE = { state: "late", reasons: ["It did not answer within 2 s."] } as const;

async function openQuorum(names = ["a", "b"]) {
  const pool = await openPool({ names });
  const quorum = new QuorumReader({ upstreams: pool.upstreams, settings: { quorum: 2 }, timers: pool.timers });
  return { ...pool, quorum };
}

describe("a quorum of two", () => {
  it.each(["late", "down", "foreign"] as const)("fails at once and names the upstream that is %s", async (state) => {
    const { quorum, health, server } = await openQuorum();
    health.headFloor = 100;
    health.set("b", { ...LATE, state, headSlot: 90 });
    const { kind, message } = await failureOf(quorum.read(CALL));
    expect(kind).toBe("unavailable");
    expect(message).toBe(
      `The quorum requires 2 usable upstreams, but only 1 of 2 is. b is ${state}: It did not answer within 2 s.`,
    );
    expect(server("a").questions).toEqual([]);
  });

  it("is read from the others while one is late", async () => {
    const { quorum, health } = await openQuorum(["a", "b", "c"]);
    health.set("b", LATE);
    expect(await quorum.read(CALL)).toMatchObject({ status: 200 });
  });

  it("fails as soon as an upstream that it waits for is late", async () => {
    const { quorum, health, server, timers } = await openQuorum();
    server("b").isFrozen = true;
    const arrived = server("b").received(CALL.request.url);
    const failure = failureOf(quorum.read(CALL));
    await arrived;
    await timers.advance(1500);
    health.set("b", LATE);
    await timers.advance(200);
    expect((await failure).message).toMatch(/The quorum requires 2 answers to .* b is late\./);
  });

  it("fails as soon as an upstream is late that has to reach the head floor", async () => {
    const { quorum, health, server, events } = await openQuorum();
    health.headFloor = 100;
    health.set("b", { headSlot: 99 });
    const failure = failureOf(quorum.read(CALL));
    while (!events.includes("a 200")) await flushPromises();
    health.set("b", { ...LATE, headSlot: 99 });
    expect((await failure).message).toMatch(/b is late: It did not answer within 2 s\./);
    expect(server("b").questions).toEqual([]);
  });
});
