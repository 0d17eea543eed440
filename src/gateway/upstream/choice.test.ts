import { expect, test } from "vitest";
import { Choice, type Wish } from "./choice.ts";
import { SetConditions } from "./conditions.test-support.ts";
import type { UpstreamClient } from "./upstream-client.ts";

interface FakeClient {
  isSilent?: boolean;
  isFull?: boolean;
  tier?: number;
}

/** Selects among upstreams by the given state, and returns the name of the selected one. */
function selectorOf(upstreams: Record<string, FakeClient>) {
  const clients = Object.entries(upstreams).map(
    ([name, { isSilent = false, isFull = false, tier = 1 }]) =>
      ({ name, isSilent, isFull, underWay: 0, options: { weight: 1, tier } }) as unknown as UpstreamClient,
  );
  const conditions = new SetConditions(...Object.keys(upstreams));
  const choice = new Choice(clients, conditions);
  const choose = ({ tried = [], ...wish }: Partial<Omit<Wish, "tried">> & { tried?: string[] } = {}) =>
    choice.choose({ isHeadBound: false, ...wish, tried: clients.filter(({ name }) => tried.includes(name)) })?.name;
  return { conditions, choose };
}

test("a silent upstream is selected for an answer when there is no other, but never for a second opinion", () => {
  const { choose } = selectorOf({ first: {}, silent: { isSilent: true } });
  expect(choose()).toBe("first");
  expect(choose({ tried: ["first"] })).toBe("silent");
  expect(choose({ tried: ["first"], isForOpinion: true })).toBeUndefined();
});

test("a late upstream is selected for an answer when there is no other, but never for a second opinion", () => {
  const { choose, conditions } = selectorOf({ first: {}, late: {} });
  conditions.set("late", { fitness: "late" });
  expect(choose({ tried: ["first"] })).toBe("late");
  expect(choose({ tried: ["first"], isForOpinion: true })).toBeUndefined();
});

test("an upstream that is behind may give a second opinion", () => {
  const { choose, conditions } = selectorOf({ first: {}, behind: {} });
  conditions.set("behind", { fitness: "behind" });
  expect(choose({ tried: ["first"], isForOpinion: true })).toBe("behind");
});

test("a late upstream comes before a silent one, and a silent one before one that lacks what is asked for", () => {
  const { choose, conditions } = selectorOf({ lacking: {}, silent: { isSilent: true }, late: {} });
  conditions.set("late", { fitness: "late" });
  const lacking = new Set(["lacking"]);
  expect(choose({ lacking })).toBe("late");
  expect(choose({ lacking, tried: ["late"] })).toBe("silent");
  expect(choose({ lacking, tried: ["late", "silent"] })).toBe("lacking");
});

test("upstreams that are full, down or of another chain are never selected", () => {
  const { choose, conditions } = selectorOf({ full: { isFull: true }, down: {}, foreign: {} });
  conditions.set("down", { fitness: "down" });
  conditions.set("foreign", { fitness: "foreign" });
  expect(choose()).toBeUndefined();
});

test("a call about the head goes to an upstream at the floor or beyond it", () => {
  const { choose, conditions } = selectorOf({ below: {}, at: { tier: 2 } });
  conditions.set("below", { headSlot: 99 });
  conditions.raiseFloor(100);
  expect(choose()).toBe("below");
  expect(choose({ isHeadBound: true })).toBe("at");
});
