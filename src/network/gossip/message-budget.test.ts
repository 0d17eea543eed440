import { expect, test } from "vitest";
import { MessageBudget } from "./message-budget.ts";

function floodUntilRefused(budget: MessageBudget, peerId: string, joined: string[]): number {
  let sent = 0;
  while (sent < 1_000_000 && budget.allows(peerId, 100, joined)) sent += 100;
  return sent;
}

test("a peer may send much, but not without end, and more to a node that has joined more topics", () => {
  let now = 0;
  const budget = new MessageBudget(() => 1000, { now: () => now });
  const few = floodUntilRefused(budget, "p", ["a"]);
  expect(few).toBeLessThan(1_000_000);
  expect(floodUntilRefused(budget, "q", ["a", "b"])).toBeGreaterThan(few * 1.5);

  now += 10_000;
  const recovered = floodUntilRefused(budget, "p", ["a"]);
  // What is expected of an honest peer passes for ever.
  expect(recovered).toBeGreaterThanOrEqual(10 * 1000);
  expect(recovered).toBeLessThan(few);
});
