import { afterEach, describe, expect, it } from "vitest";
import {
  GENESIS_ROOT,
  json,
  rootAt,
  ScriptedUpstream,
} from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createRecordingLogger } from "../../../../test/support/log/recording-logger.ts";
import { FakeTimers, flushPromises } from "../../../../test/support/time/fake-timers.ts";
import type { ChainSpec } from "../../network/chain-spec.ts";
import { HealthMonitor } from "./health-monitor.ts";

const SECONDS_PER_SLOT = 12;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Opens a monitor of two upstreams at slot 100, the current slot. */
async function open() {
  const [a, b] = await Promise.all(["a", "b"].map((name) => new ScriptedUpstream(name).start()));
  const timers = new FakeTimers();
  const genesisTime = Math.floor(timers.unixNow() / 1000 - 100.5 * SECONDS_PER_SLOT);
  for (const upstream of [a!, b!]) upstream.genesisTime = genesisTime;
  const chainSpec: ChainSpec = {
    presetBase: "mainnet",
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime,
    secondsPerSlot: SECONDS_PER_SLOT,
    slotsPerEpoch: 8,
    forks: [{ name: "phase0", epoch: 0 }],
  };
  const logger = createRecordingLogger();
  const monitor = new HealthMonitor({
    settings: { upstreams: [a!.options, b!.options], maxSlotsBehind: 2 },
    chainSpec,
    timers,
    logger,
  });
  closing.push(
    () => a!.stop(),
    () => b!.stop(),
    () => monitor.close(),
  );
  const messages = () =>
    logger.records.splice(0).map(({ level, message, fields }) => [level, message, fields?.upstream]);
  /** Advances time slowly enough for upstreams to answer, until the condition holds. */
  const until = async (isSo: () => boolean) => {
    for (let step = 0; !isSo(); step++) {
      if (step > 20_000) throw new Error("It does not come.");
      await timers.advance(5);
    }
  };
  return { monitor, a: a!, b: b!, timers, messages, until };
}

describe("HealthMonitor", () => {
  it("times out when a body stalls", async () => {
    const { monitor, a, until } = await open();
    a.everything = (_request, response) => {
      response.setHeader("content-length", 100_000);
      response.write(`{"data":${" ".repeat(80_000)}`);
    };
    let hasStarted = false;
    const started = monitor.start().then(() => {
      hasStarted = true;
    });
    await until(() => hasStarted);
    await started;
    expect(monitor.all.map(({ state }) => state)).toEqual(["late", "ready"]);
  });

  it("knows the health of each upstream once started, and leaves the first log lines to the caller", async () => {
    const { monitor, messages } = await open();
    expect(monitor.of("a")).toMatchObject({ state: "down", reasons: ["It has not been polled yet."] });
    await monitor.start();
    expect(monitor.all).toMatchObject([
      {
        upstream: "a",
        state: "ready",
        reasons: [],
        version: "Scripted/a",
        head: { slot: 100, root: rootAt(100) },
        finalized: { epoch: 10, root: rootAt(10) },
        syncDistance: 0,
        isOptimistic: false,
        isExecutionOffline: false,
      },
      { upstream: "b", state: "ready" },
    ]);
    expect(messages()).toEqual([]);
  });

  it("distinguishes 404 from other errors", async () => {
    const { monitor, a } = await open();
    const fetch = (status: number) => {
      a.handler = (_request, response) => json(response, { data: 1 }, status);
      return monitor.fetch("a", "/eth/v1/beacon/headers/7");
    };
    expect(String(await fetch(200))).toBe('{"data":1}');
    expect(await fetch(404)).toBeUndefined();
    await expect(fetch(500)).rejects.toThrow("a answered /eth/v1/beacon/headers/7 with HTTP status 500.");
  });

  it("logs once when an upstream falls behind, hangs, fails and recovers", async () => {
    const { monitor, a, messages, until } = await open();
    await monitor.start();
    let changes = 0;
    monitor.onChange(() => changes++);
    messages();
    a.isOptimistic = true;
    await until(() => monitor.of("a").state === "behind");
    expect(changes).toBeGreaterThan(0);
    a.isFrozen = true;
    await until(() => monitor.of("a").state === "late");
    expect(monitor.of("a").reasons[0]).toBe("a did not answer /eth/v1/node/syncing within 2 s.");
    a.isFrozen = false;
    a.isOptimistic = false;
    await until(() => monitor.of("a").state === "ready");
    await a.stop();
    await until(() => monitor.of("a").state === "down");
    expect(monitor.of("a").reasons).toEqual(["a refused the connection."]);
    await a.start();
    await until(() => monitor.of("a").state === "ready");
    expect(messages().map(([level]) => level)).toEqual(["warn", "warn", "info", "warn", "info"]);
  });

  it("detects an upstream on another chain, also after a restart", async () => {
    const { monitor, a, b, messages, until } = await open();
    b.genesisRoot = rootAt(5);
    await monitor.start();
    expect(monitor.of("b").state).toBe("foreign");
    await a.stop();
    await until(() => monitor.of("a").state === "down");
    a.genesisRoot = rootAt(6);
    await a.start();
    await until(() => monitor.of("a").state === "foreign");
    expect(messages()).toContainEqual(["error", "Upstream is on another chain", "a"]);
  });

  it("detects another chain behind an address without an outage", async () => {
    const { monitor, a, timers, until } = await open();
    await monitor.start();
    a.genesisRoot = rootAt(6);
    const changed = timers.now();
    await until(() => monitor.of("a").state === "foreign");
    expect(timers.now() - changed).toBeLessThan(SECONDS_PER_SLOT * 1000);
  });

  it("polls an upstream at once when several requests to it have failed", async () => {
    const { monitor, a, timers, messages, until } = await open();
    await monitor.start();
    await a.stop();
    const stopped = timers.now();
    monitor.reportFailing("a", "5 requests in a row failed.");
    expect(monitor.of("a").state).toBe("ready");
    await until(() => monitor.of("a").state === "down");
    expect(timers.now() - stopped).toBeLessThan(1000);
    expect(monitor.of("a").reasons).toEqual(["a refused the connection."]);
    expect(messages()).toEqual([["warn", "Upstream is down", "a"]]);
  });

  it("keeps the state of an upstream that fails requests but answers polls, and logs that once a minute", async () => {
    const { monitor, a, timers, messages, until } = await open();
    await monitor.start();
    const states = new Set<string>();
    monitor.onChange(() => states.add(monitor.of("a").state));
    const reportFor = async (millis: number) => {
      const end = timers.now() + millis;
      while (timers.now() < end) {
        monitor.reportFailing("a", "5 requests in a row failed.");
        await timers.advance(25);
      }
    };
    const polls = () => a.requests.filter(({ url }) => url.endsWith("syncing")).length;
    const before = polls();
    await reportFor(10_000);
    expect(polls() - before).toBeGreaterThan(4);
    expect(polls() - before).toBeLessThanOrEqual(50);
    const warning = ["warn", "Upstream fails requests but answers health polls", "a"];
    expect(messages()).toEqual([warning]);
    const minuteLater = timers.now() + 60_000;
    await until(() => timers.now() >= minuteLater);
    expect(messages()).toEqual([]);
    await reportFor(1000);
    expect(messages()).toEqual([warning]);
    expect([...states].filter((state) => state !== "ready")).toEqual([]);
  });

  it("ignores invalid answers", async () => {
    const { monitor, a, b } = await open();
    a.everything = (_request, response) => response.end("<html>Welcome to nginx!</html>");
    b.everything = ({ url }, response) =>
      json(response, { data: url.endsWith("syncing") ? { sync_distance: "0" } : null });
    await monitor.start();
    expect(monitor.of("a")).toMatchObject({
      state: "down",
      reasons: ['a answered /eth/v1/node/syncing with something other than a JSON object with the member "data".'],
    });
    expect(monitor.of("b")).toMatchObject({
      state: "behind",
      reasons: ['It does not report its head: "slot" must be a non-negative integer.'],
    });
  });

  it("applies events between two polls", async () => {
    const { monitor, a } = await open();
    await monitor.start();
    const onRequestEnd = a.requests.length;
    monitor.recordHead("a", { slot: 101, root: rootAt(101) });
    monitor.recordFinalized("a", { epoch: 11, root: rootAt(11) });
    expect(monitor.of("a")).toMatchObject({ state: "ready", head: { slot: 101 }, finalized: { epoch: 11 } });
    expect(a.requests).toHaveLength(onRequestEnd);
    monitor.recordHead("b", { slot: 104, root: rootAt(104) });
    expect(monitor.of("b").state).toBe("behind");
  });

  it("keeps an upstream behind whose polled head is in the future, whatever its events say", async () => {
    const { monitor, a, messages, until } = await open();
    a.headSlot = 150;
    await monitor.start();
    for (let slot = 100; slot < 103; slot++) {
      monitor.recordHead("a", { slot: 100, root: rootAt(slot) });
      expect(monitor.of("a").state).toBe("behind");
    }
    a.headSlot = 100;
    await until(() => monitor.of("a").state === "ready");
    expect(messages()).toEqual([["info", "Upstream is ready", "a"]]);
  });

  it("polls an upstream before it counts as behind the finality of another one", async () => {
    const { monitor, a, b, messages, until } = await open();
    a.finalizedEpoch = b.finalizedEpoch = 5;
    await monitor.start();
    // Finality may jump after a time without it. Upstream a has the same news, in a later poll.
    a.finalizedEpoch = b.finalizedEpoch = 10;
    monitor.recordFinalized("b", { epoch: 10, root: rootAt(10) });
    expect(monitor.of("a").state).toBe("ready");
    await until(() => monitor.of("a").finalized?.epoch === 10);
    expect(messages()).toEqual([]);

    a.headSlot = 90;
    monitor.recordHead("a", { slot: 95, root: rootAt(95) });
    expect(monitor.of("a").state).toBe("behind");
  });
});

describe("the head floor", () => {
  it("is bounded by the clock", async () => {
    const { monitor } = await open();
    await monitor.start();
    monitor.raiseHeadFloor(100);
    expect(monitor.headFloor).toBe(100);
    monitor.recordHead("a", { slot: 2 ** 52, root: rootAt(1) });
    monitor.raiseHeadFloor(2 ** 52);
    expect(monitor.headFloor).toBe(100);
    monitor.raiseHeadFloor(50);
    expect(monitor.headFloor).toBe(100);
  });

  it("triggers a poll when no upstream is known to reach it", async () => {
    const { monitor, a, b } = await open();
    a.headSlot = b.headSlot = 99;
    await monitor.start();
    const polled = () => [a, b].map(({ requests }) => requests.length);
    const previous = polled();
    a.headSlot = 100;
    monitor.recordHead("b", { slot: 100, root: rootAt(100) });
    monitor.raiseHeadFloor(100);
    expect(monitor.of("a").head?.slot).toBe(99);
    a.headSlot = 101;
    monitor.raiseHeadFloor(101);
    while (monitor.of("a").head?.slot !== 101) await flushPromises();
    // One poll each.
    expect(polled().map((count, index) => count - previous[index]!)).toEqual([4, 4]);
  });

  it("is lowered with a warning when no upstream reaches it for two slots", async () => {
    const { monitor, a, timers, messages, until } = await open();
    await monitor.start();
    a.headSlot = 101;
    await until(() => monitor.of("a").head?.slot === 101);
    monitor.raiseHeadFloor(101);
    await a.stop();
    await until(() => monitor.of("a").state === "down");
    messages();
    const gone = timers.now();
    await until(() => monitor.headFloor === 100);
    expect(timers.now() - gone).toBeGreaterThan(2 * (SECONDS_PER_SLOT - 1) * 1000);
    expect(messages()).toEqual([
      ["warn", expect.stringContaining("No upstream has reached the served head"), undefined],
    ]);
  });

  it("is lowered when only a late upstream is left", async () => {
    const { monitor, a, b, timers, until } = await open();
    await monitor.start();
    monitor.recordHead("a", { slot: 101, root: rootAt(101) });
    monitor.raiseHeadFloor(101);
    b.delay = () => timers.sleep(3000, new AbortController().signal);
    await until(() => monitor.of("b").state === "late");
    await a.stop();
    await until(() => monitor.of("a").state === "down");
    await until(() => monitor.headFloor === 100);
    b.headSlot = 103;
    await until(() => monitor.of("b").head?.slot === 103);
    expect(monitor.of("b").state).toBe("late");
    b.delay = undefined;
    await until(() => monitor.of("b").state === "ready");
  });

  it("follows a reorg", async () => {
    const { monitor, messages } = await open();
    await monitor.start();
    for (const name of ["a", "b"]) monitor.recordHead(name, { slot: 101, root: rootAt(101) });
    monitor.raiseHeadFloor(101);
    messages();
    monitor.recordHead("a", { slot: 100, root: rootAt(99) });
    expect(monitor.headFloor).toBe(101);
    monitor.recordHead("b", { slot: 100, root: rootAt(99) });
    expect(monitor.headFloor).toBe(100);
    expect(messages()).toEqual([]);
  });
});

describe("a revert behind finality", () => {
  const REWOUND = "Chain reverted behind finality, dropping cached answers";

  it("is detected by a deep reorg once no upstream has the finalized checkpoint", async () => {
    const { monitor, messages } = await open();
    await monitor.start();
    let changes = 0;
    monitor.onChange(() => changes++);
    messages();
    monitor.recordReorg("a", 80);
    expect([monitor.finalityReverts, changes, monitor.of("a").finalized?.epoch]).toEqual([0, 0, 10]);
    monitor.recordReorg("a", 79);
    expect([monitor.finalityReverts, monitor.of("a").finalized]).toEqual([0, undefined]);
    monitor.recordReorg("b", 40);
    expect([monitor.finalityReverts, changes]).toEqual([1, 2]);
    expect(messages()).toEqual([["warn", REWOUND, "b"]]);
    monitor.recordReorg("b", 30);
    monitor.recordFinalized("b", { epoch: 5, root: rootAt(55) });
    monitor.recordReorg("b", 41);
    expect([monitor.finalityReverts, monitor.of("b").finalized?.epoch]).toEqual([1, 5]);
    monitor.recordReorg("b", 39);
    expect(monitor.finalityReverts).toBe(2);
  });

  it("is not detected when an upstream drops a checkpoint that no other one has confirmed", async () => {
    const { monitor, a, b, messages, until } = await open();
    a.finalizedEpoch = b.finalizedEpoch = 9;
    a.handler = (_request, response) => json(response, { code: 404 }, 404);
    await monitor.start();
    messages();
    monitor.recordFinalized("a", { epoch: 10, root: rootAt(77) });
    await until(() => a.requests.some(({ url }) => url === `/eth/v1/beacon/headers/${rootAt(77)}`));
    await until(() => monitor.of("a").finalized?.epoch === 9);
    expect([monitor.finalityReverts, messages()]).toEqual([0, []]);
    for (const name of ["a", "b"]) monitor.recordReorg(name, 40);
    expect(monitor.finalityReverts).toBe(1);
  });

  it("is not detected when an upstream no longer reports a future epoch", async () => {
    const { monitor, a, b, until } = await open();
    await monitor.start();
    await b.stop();
    await until(() => monitor.of("b").state === "down");
    a.finalizedEpoch = 999_999;
    await until(() => monitor.of("a").finalized?.epoch === 999_999);
    expect(monitor.of("a").reasons).toEqual(["It has finalized epoch 999999, which is in the future."]);
    a.finalizedEpoch = 10;
    a.handler = (_request, response) => json(response, { code: 404 }, 404);
    await until(() => monitor.of("a").finalized?.epoch === 10);
    const previous = a.requests.length;
    await until(() => a.requests.length > previous + 12);
    expect(monitor.finalityReverts).toBe(0);
  });

  it("is detected without events when the checkpoint is no longer canonical", async () => {
    const { monitor, a, b, until } = await open();
    await monitor.start();
    await b.stop();
    await until(() => monitor.of("b").state === "down");
    const header = `/eth/v1/beacon/headers/${rootAt(10)}`;
    const asksFor = async (answer: object, status = 200) => {
      const onRequestEnd = a.received(header);
      a.handler = (_request, response) => json(response, answer, status);
      let isAsked = false;
      void onRequestEnd.then(() => {
        isAsked = true;
      });
      await until(() => isAsked);
    };
    // Only the state of its head reports less.
    a.finalizedEpoch = 9;
    await asksFor({ data: { root: rootAt(10), canonical: true } });
    await asksFor({ message: "It is busy." }, 503);
    expect(monitor.finalityReverts).toBe(0);
    // It is resyncing.
    a.syncDistance = 90;
    a.finalizedEpoch = 0;
    await until(() => monitor.of("a").state === "behind");
    a.handler = (_request, response) => json(response, { code: 404 }, 404);
    const previous = a.requests.length;
    await until(() => a.requests.length > previous + 12);
    expect(monitor.finalityReverts).toBe(0);
    a.syncDistance = 0;
    await until(() => monitor.finalityReverts === 1);
    await until(() => monitor.of("a").finalized?.epoch === 0);
    expect(monitor.finalityReverts).toBe(1);
  });
});
