import { expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import { UpstreamError } from "../upstream/upstream-call.ts";
import { measureLatencies, summaryOf } from "./latency.ts";
import { Probe } from "./probe.ts";

const TURN_MILLIS = 500;

/** Creates upstreams, some of which hang, and records their requests. */
function upstreams(names: readonly string[], { hanging = [] as readonly string[] } = {}) {
  const requests: string[] = [];
  const { promise: end, resolve: giveUp } = Promise.withResolvers<void>();
  let atOnce = 0;
  let mostAtOnce = 0;
  const probes = names.map((name) => {
    const request = async () => {
      requests.push(name);
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      await (hanging.includes(name) ? end : flushPromises());
      atOnce--;
      if (hanging.includes(name)) throw new UpstreamError(name, `${name} did not answer.`, { mayHaveArrived: true });
      return { upstream: name, status: 200, headers: {}, body: Buffer.from("{}") };
    };
    return new Probe({ name, request }, 60_000);
  });
  return { probes, requests, giveUp, mostAtOnce: () => mostAtOnce };
}

const ALL = { cheap: { calls: 15 }, heavier: { calls: 10 } };
const NOTHING = { cheap: undefined, heavier: undefined };

it("is measured one upstream at a time", async () => {
  const { probes, mostAtOnce } = upstreams(["a", "b", "c"]);
  expect(await measureLatencies(probes)).toMatchObject([ALL, ALL, ALL]);
  expect(mostAtOnce()).toBe(1);
});

it("is measured while others hang, in the order of the upstreams", async () => {
  const timers = new FakeTimers();
  const { probes, requests, giveUp } = upstreams(["a", "b", "c", "d"], { hanging: ["a", "c"] });
  const measured = measureLatencies(probes, timers);
  await flushPromises();
  expect(requests).toEqual(["a"]);
  await timers.advance(TURN_MILLIS);
  await expect.poll(() => requests).toEqual(["a", "b", "c"]);
  await timers.advance(TURN_MILLIS);
  await expect.poll(() => requests.filter((name) => name === "d")).toHaveLength(25);
  expect(requests.filter((name) => name === "a" || name === "c")).toEqual(["a", "c"]);
  giveUp();
  expect(await measured).toMatchObject([NOTHING, ALL, NOTHING, ALL]);
});

it("takes the median and the 95th percentile of the samples", () => {
  const millis = Array.from({ length: 20 }, (_, index) => 20 - index);
  expect(summaryOf(millis)).toEqual({ median: 10, p95: 19, calls: 20 });
  expect(summaryOf([7])).toEqual({ median: 7, p95: 7, calls: 1 });
  expect(summaryOf([])).toBeUndefined();
});
