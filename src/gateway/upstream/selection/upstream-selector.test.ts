import { expect, it } from "vitest";
import { ScriptedHealth } from "../../../../test/support/gateway/upstream/scripted-health.ts";
import { CircuitBreaker } from "../client/circuit-breaker.ts";
import type { UpstreamClient } from "../client/upstream-client.ts";
import { type RouteConstraints, UpstreamSelector } from "./upstream-selector.ts";

interface FakeClient {
  isUnresponsive?: boolean;
  isSaturated?: boolean;
  tier?: number;
  /** Failures in the last minute. */
  failures?: number;
}

/** Selects among upstreams by the given state, and returns the name of the selected one. */
function selectorOf(upstreams: Record<string, FakeClient>) {
  const clock = { millis: 0 };
  const clients = Object.entries(upstreams).map(
    ([name, { isUnresponsive = false, isSaturated = false, tier = 1, failures = 0 }]) => {
      const breaker = new CircuitBreaker({ timers: { now: () => clock.millis } });
      for (let failure = 0; failure < failures; failure++) breaker.recordFailure();
      return {
        name,
        breaker,
        isUnresponsive,
        isSaturated,
        pendingRequests: 0,
        options: { weight: 1, tier },
      } as unknown as UpstreamClient;
    },
  );
  const health = new ScriptedHealth(...Object.keys(upstreams));
  const selector = new UpstreamSelector(clients, health);
  const select = ({
    tried = [],
    ...constraints
  }: Partial<Omit<RouteConstraints, "tried">> & { tried?: string[] } = {}) =>
    selector.select({ isHeadBound: false, ...constraints, tried: clients.filter(({ name }) => tried.includes(name)) })
      ?.name;
  return { health, select, clock };
}

it("an unresponsive upstream is selected as a last resort, but never for a confirmation", () => {
  const { select } = selectorOf({ first: {}, silent: { isUnresponsive: true } });
  expect(select()).toBe("first");
  expect(select({ tried: ["first"] })).toBe("silent");
  expect(select({ tried: ["first"], isConfirmation: true })).toBeUndefined();
});

it("a late upstream is selected as a last resort, but never for a confirmation", () => {
  const { select, health } = selectorOf({ first: {}, late: {} });
  health.set("late", { state: "late" });
  expect(select({ tried: ["first"] })).toBe("late");
  expect(select({ tried: ["first"], isConfirmation: true })).toBeUndefined();
});

it("an upstream that is behind is selected for a confirmation", () => {
  const { select, health } = selectorOf({ first: {}, behind: {} });
  health.set("behind", { state: "behind" });
  expect(select({ tried: ["first"], isConfirmation: true })).toBe("behind");
});

it("late upstreams rank before unresponsive ones, and these before deprioritized ones", () => {
  const { select, health } = selectorOf({ unsupported: {}, silent: { isUnresponsive: true }, late: {} });
  health.set("late", { state: "late" });
  const deprioritized = new Set(["unsupported"]);
  expect(select({ deprioritized })).toBe("late");
  expect(select({ deprioritized, tried: ["late"] })).toBe("silent");
  expect(select({ deprioritized, tried: ["late", "silent"] })).toBe("unsupported");
});

it("saturated, down and foreign upstreams are never selected", () => {
  const { select, health } = selectorOf({ full: { isSaturated: true }, down: {}, foreign: {} });
  health.set("down", { state: "down" });
  health.set("foreign", { state: "foreign" });
  expect(select()).toBeUndefined();
});

it("a head-bound call goes to an upstream at or above the head floor", () => {
  const { select, health } = selectorOf({ below: {}, at: { tier: 2 } });
  health.set("below", { headSlot: 99 });
  health.raiseHeadFloor(100);
  expect(select()).toBe("below");
  expect(select({ isHeadBound: true })).toBe("at");
});

it("an upstream with fewer recent failures is preferred", () => {
  const { select } = selectorOf({ failing: { failures: 1 }, other: {} });
  expect(select()).toBe("other");
  expect(select({ tried: ["other"] })).toBe("failing");
});

it("an open circuit ranks after every healthy upstream that responds, except for probes", () => {
  const { select, health, clock } = selectorOf({ failing: { failures: 3 }, behind: { tier: 2 } });
  health.set("behind", { state: "behind" });
  expect(select()).toBe("behind");
  expect(select({ tried: ["behind"] })).toBe("failing");
  clock.millis = 1000;
  expect(select()).toBe("failing");
  // Requests about a slot are no probes.
  expect(select({ slot: 7 })).toBe("behind");
});
