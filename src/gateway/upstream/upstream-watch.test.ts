import { afterEach, describe, expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import type { ChainFacts } from "../chain-facts.ts";
import { GENESIS_ROOT, json, rootAt, ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { UpstreamWatch } from "./upstream-watch.ts";

const SECONDS_PER_SLOT = 12;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Two upstreams at slot 100, which it is by the clock. */
async function open() {
  const [a, b] = await Promise.all(["a", "b"].map((name) => new ScriptedUpstream(name).start()));
  const timers = new FakeTimers();
  const genesisTime = Math.floor(timers.unixNow() / 1000 - 100.5 * SECONDS_PER_SLOT);
  for (const upstream of [a!, b!]) upstream.genesisTime = genesisTime;
  const facts: ChainFacts = {
    presetBase: "mainnet",
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime,
    secondsPerSlot: SECONDS_PER_SLOT,
    slotsPerEpoch: 8,
    forks: [{ name: "phase0", epoch: 0 }],
  };
  const logger = createRecordingLogger();
  const watch = new UpstreamWatch({
    options: { upstreams: [a!.options, b!.options], maxSlotsBehind: 2 },
    facts,
    timers,
    logger,
  });
  closing.push(
    () => a!.stop(),
    () => b!.stop(),
    () => watch.close(),
  );
  const messages = () =>
    logger.records.splice(0).map(({ level, message, fields }) => [level, message, fields?.upstream]);
  /** Lets time pass so slowly that upstreams can answer, until it is so. */
  const until = async (isSo: () => boolean) => {
    for (let step = 0; !isSo(); step++) {
      if (step > 20_000) throw new Error("It does not come.");
      await timers.advance(5);
    }
  };
  return { watch, a: a!, b: b!, timers, messages, until };
}

describe("the watch over upstreams", () => {
  it("waits for no answer that does not come to its end", async () => {
    const { watch, a, until } = await open();
    a.everything = (_request, response) => {
      response.setHeader("content-length", 100_000);
      response.write(`{"data":${" ".repeat(80_000)}`);
    };
    let hasStarted = false;
    const started = watch.start().then(() => {
      hasStarted = true;
    });
    await until(() => hasStarted);
    await started;
    expect(watch.all.map(({ fitness }) => fitness)).toEqual(["late", "ready"]);
  });

  it("knows all of each once it has started, and says so", async () => {
    const { watch, messages } = await open();
    expect(watch.of("a")).toMatchObject({ fitness: "down", reasons: ["It has not been asked yet."] });
    await watch.start();
    expect(watch.all).toMatchObject([
      {
        upstream: "a",
        fitness: "ready",
        reasons: [],
        version: "Scripted/a",
        head: { slot: 100, root: rootAt(100) },
        finalized: { epoch: 10, root: rootAt(10) },
        syncDistance: 0,
        isOptimistic: false,
        isExecutionOffline: false,
      },
      { upstream: "b", fitness: "ready" },
    ]);
    expect(messages()).toEqual([
      ["info", "Upstream is ready", expect.any(String)],
      ["info", "Upstream is ready", expect.any(String)],
    ]);
  });

  it("tells what an upstream has no such thing of from what it gives no good answer to", async () => {
    const { watch, a } = await open();
    const ask = (status: number) => {
      a.handler = (_request, response) => json(response, { data: 1 }, status);
      return watch.ask("a", "/eth/v1/beacon/headers/7");
    };
    expect(String(await ask(200))).toBe('{"data":1}');
    expect(await ask(404)).toBeUndefined();
    await expect(ask(500)).rejects.toThrow("a answered /eth/v1/beacon/headers/7 with HTTP status 500.");
  });

  it("sees an upstream fall behind, freeze, go and come back, and says each once", async () => {
    const { watch, a, messages, until } = await open();
    await watch.start();
    let changes = 0;
    watch.onChange(() => changes++);
    messages();
    a.isOptimistic = true;
    await until(() => watch.of("a").fitness === "behind");
    expect(changes).toBeGreaterThan(0);
    a.isFrozen = true;
    await until(() => watch.of("a").fitness === "late");
    expect(watch.of("a").reasons[0]).toBe("a did not answer /eth/v1/node/syncing within 2 s.");
    a.isFrozen = false;
    a.isOptimistic = false;
    await until(() => watch.of("a").fitness === "ready");
    await a.stop();
    await until(() => watch.of("a").fitness === "down");
    expect(watch.of("a").reasons).toEqual(["a refused the connection."]);
    await a.start();
    await until(() => watch.of("a").fitness === "ready");
    expect(messages().map(([level]) => level)).toEqual(["warn", "warn", "info", "warn", "info"]);
  });

  it("finds out that an upstream follows another chain, also when it comes back with one", async () => {
    const { watch, a, b, messages, until } = await open();
    b.genesisRoot = rootAt(5);
    await watch.start();
    expect(watch.of("b").fitness).toBe("foreign");
    expect(messages()).toContainEqual(["error", "Upstream follows another chain and is not asked", "b"]);
    await a.stop();
    await until(() => watch.of("a").fitness === "down");
    a.genesisRoot = rootAt(6);
    await a.start();
    await until(() => watch.of("a").fitness === "foreign");
  });

  it("finds out that another chain is behind an address that was never gone", async () => {
    const { watch, a, timers, until } = await open();
    await watch.start();
    a.genesisRoot = rootAt(6);
    const changed = timers.now();
    await until(() => watch.of("a").fitness === "foreign");
    expect(timers.now() - changed).toBeLessThan(SECONDS_PER_SLOT * 1000);
  });

  it("takes an upstream for down that others complain of, until it answers", async () => {
    const { watch, until } = await open();
    await watch.start();
    watch.suspect("a", "5 requests in a row failed.");
    expect(watch.of("a")).toMatchObject({ fitness: "down", reasons: ["5 requests in a row failed."] });
    await until(() => watch.of("a").fitness === "ready");
  });

  it("does not go by garbage", async () => {
    const { watch, a, b } = await open();
    a.everything = (_request, response) => response.end("<html>Welcome to nginx!</html>");
    b.everything = ({ url }, response) =>
      json(response, { data: url.endsWith("syncing") ? { sync_distance: "0" } : null });
    await watch.start();
    expect(watch.of("a")).toMatchObject({
      fitness: "down",
      reasons: ["a answered /eth/v1/node/syncing with something that is no JSON object with a member data."],
    });
    expect(watch.of("b")).toMatchObject({
      fitness: "behind",
      reasons: ["It does not tell its head: The member slot is no whole number."],
    });
  });

  it("goes by what events tell between two polls", async () => {
    const { watch, a } = await open();
    await watch.start();
    const asked = a.requests.length;
    watch.noteHead("a", { slot: 101, root: rootAt(101) });
    watch.noteFinalized("a", { epoch: 11, root: rootAt(11) });
    expect(watch.of("a")).toMatchObject({ fitness: "ready", head: { slot: 101 }, finalized: { epoch: 11 } });
    expect(a.requests).toHaveLength(asked);
    watch.noteHead("b", { slot: 104, root: rootAt(104) });
    expect(watch.of("b").fitness).toBe("behind");
  });
});

describe("the floor", () => {
  it("rises no further than the clock, whatever an upstream tells", async () => {
    const { watch } = await open();
    await watch.start();
    watch.raiseFloor(100);
    expect(watch.floor).toBe(100);
    watch.noteHead("a", { slot: 2 ** 52, root: rootAt(1) });
    watch.raiseFloor(2 ** 52);
    expect(watch.floor).toBeLessThanOrEqual(102);
    watch.raiseFloor(50);
    expect(watch.floor).toBeGreaterThanOrEqual(100);
  });

  it("has upstreams asked at once when none is known to have come there", async () => {
    const { watch, a, b } = await open();
    await watch.start();
    const polled = () => [a, b].map(({ requests }) => requests.length);
    const before = polled();
    a.headSlot = 101;
    watch.noteHead("b", { slot: 101, root: rootAt(101) });
    watch.raiseFloor(101);
    expect(watch.of("a").head?.slot).toBe(100);
    a.headSlot = 102;
    watch.raiseFloor(102);
    while (watch.of("a").head?.slot !== 102) await flushPromises();
    // Once each.
    expect(polled().map((count, index) => count - before[index]!)).toEqual([4, 4]);
  });

  it("is let go with a warning when no upstream comes to it for two slots", async () => {
    const { watch, a, timers, messages, until } = await open();
    await watch.start();
    a.headSlot = 101;
    await until(() => watch.of("a").head?.slot === 101);
    watch.raiseFloor(101);
    await a.stop();
    await until(() => watch.of("a").fitness === "down");
    messages();
    const gone = timers.now();
    await until(() => watch.floor === 100);
    expect(timers.now() - gone).toBeGreaterThan(2 * (SECONDS_PER_SLOT - 1) * 1000);
    expect(messages()).toEqual([["warn", expect.stringContaining("No upstream comes to the head"), undefined]]);
  });

  it("is let go as well when only one that is late is left, whose head is followed", async () => {
    const { watch, a, b, timers, until } = await open();
    await watch.start();
    watch.noteHead("a", { slot: 101, root: rootAt(101) });
    watch.raiseFloor(101);
    b.delay = () => timers.sleep(3000, new AbortController().signal);
    await until(() => watch.of("b").fitness === "late");
    await a.stop();
    await until(() => watch.of("a").fitness === "down");
    await until(() => watch.floor === 100);
    b.headSlot = 103;
    await until(() => watch.of("b").head?.slot === 103);
    expect(watch.of("b").fitness).toBe("late");
    b.delay = undefined;
    await until(() => watch.of("b").fitness === "ready");
  });

  it("follows the chain itself where that goes back", async () => {
    const { watch, messages } = await open();
    await watch.start();
    for (const name of ["a", "b"]) watch.noteHead(name, { slot: 101, root: rootAt(101) });
    watch.raiseFloor(101);
    messages();
    watch.noteHead("a", { slot: 100, root: rootAt(99) });
    expect(watch.floor).toBe(101);
    watch.noteHead("b", { slot: 100, root: rootAt(99) });
    expect(watch.floor).toBe(100);
    expect(messages()).toEqual([]);
  });
});

describe("a chain that goes back behind what was final", () => {
  const REWOUND = "The chain has gone back behind what was final: what was kept of it is dropped";

  it("is noticed by a reorganisation that is deep enough, once no upstream holds what was final", async () => {
    const { watch, messages } = await open();
    await watch.start();
    let changes = 0;
    watch.onChange(() => changes++);
    messages();
    watch.noteReorg("a", 80);
    expect([watch.rewinds, changes, watch.of("a").finalized?.epoch]).toEqual([0, 0, 10]);
    watch.noteReorg("a", 79);
    expect([watch.rewinds, watch.of("a").finalized]).toEqual([0, undefined]);
    watch.noteReorg("b", 40);
    expect([watch.rewinds, changes]).toEqual([1, 2]);
    expect(messages()).toEqual([["warn", REWOUND, "b"]]);
    watch.noteReorg("b", 30);
    watch.noteFinalized("b", { epoch: 5, root: rootAt(55) });
    watch.noteReorg("b", 41);
    expect([watch.rewinds, watch.of("b").finalized?.epoch]).toEqual([1, 5]);
    watch.noteReorg("b", 39);
    expect(watch.rewinds).toBe(2);
  });

  it("is noticed without events when what was final is not on the chain of its upstream any more", async () => {
    const { watch, a, b, until } = await open();
    await watch.start();
    await b.stop();
    await until(() => watch.of("b").fitness === "down");
    const header = `/eth/v1/beacon/headers/${rootAt(10)}`;
    const asksFor = async (answer: object, status = 200) => {
      const asked = a.received(header);
      a.handler = (_request, response) => json(response, answer, status);
      let isAsked = false;
      void asked.then(() => {
        isAsked = true;
      });
      await until(() => isAsked);
    };
    // Only the state of its head knows less.
    a.finalizedEpoch = 9;
    await asksFor({ data: { root: rootAt(10), canonical: true } });
    await asksFor({ message: "It is busy." }, 503);
    expect(watch.rewinds).toBe(0);
    // It syncs anew.
    a.syncDistance = 90;
    a.finalizedEpoch = 0;
    await until(() => watch.of("a").fitness === "behind");
    a.handler = (_request, response) => json(response, { code: 404 }, 404);
    const before = a.requests.length;
    await until(() => a.requests.length > before + 12);
    expect(watch.rewinds).toBe(0);
    a.syncDistance = 0;
    await until(() => watch.rewinds === 1);
    await until(() => watch.of("a").finalized?.epoch === 0);
    expect(watch.rewinds).toBe(1);
  });
});
