import { expect, it } from "vitest";
import type { UpstreamClient } from "../client/upstream-client.ts";
import { HealthStub } from "../health-stub.test-support.ts";
import { type RouteConstraints, UpstreamSelector } from "./upstream-selector.ts";

interface FakeClient {
  isUnresponsive?: boolean;
  isSaturated?: boolean;
  tier?: number;
}

/** Selects among upstreams by the given state, and returns the name of the selected one. */
function selectorOf(upstreams: Record<string, FakeClient>) {
  const clients = Object.entries(upstreams).map(
    ([name, { isUnresponsive = false, isSaturated = false, tier = 1 }]) =>
      ({
        name,
        isUnresponsive,
        isSaturated,
        pendingRequests: 0,
        options: { weight: 1, tier },
      }) as unknown as UpstreamClient,
  );
  const health = new HealthStub(...Object.keys(upstreams));
  const selector = new UpstreamSelector(clients, health);
  const select = ({
    tried = [],
    ...constraints
  }: Partial<Omit<RouteConstraints, "tried">> & { tried?: string[] } = {}) =>
    selector.select({ isHeadBound: false, ...constraints, tried: clients.filter(({ name }) => tried.includes(name)) })
      ?.name;
  return { health, select };
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
