import { expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import { Budget } from "./budget.ts";
import { LocalBudgetStore } from "./budget-store.ts";

function setup(limit: number, count: number, windowSeconds = 1) {
  const timers = new FakeTimers();
  const store = new LocalBudgetStore(timers);
  const budgets = Array.from({ length: count }, () => new Budget({ name: "a", limit, windowSeconds, store, timers }));
  return { timers, store, budgets };
}

/** Returns how many of the takes succeed. */
async function take(budgets: readonly Budget[], times: number, amount = 1): Promise<number> {
  const results = await Promise.all(Array.from({ length: times }, (_, i) => budgets[i % budgets.length]!.take(amount)));
  return results.filter(Boolean).length;
}

it("admits the limit in every window, over all processes", async () => {
  const { timers, budgets } = setup(1000, 4);
  for (let window = 0; window < 3; window++) {
    const admitted = await take(budgets, 3000);
    expect(admitted).toBeLessThanOrEqual(1000);
    expect(admitted).toBeGreaterThanOrEqual(980);
    expect(await take(budgets, 100)).toBe(0);
    await timers.advance(1000);
  }
});

it("admits a small limit exactly", async () => {
  const { budgets } = setup(7, 3);
  expect(await take(budgets, 50)).toBe(7);
});

it("takes units of several sizes until none fits", async () => {
  const { budgets } = setup(100, 1);
  expect(await take(budgets, 10, 30)).toBe(3);
  expect(await take(budgets, 20, 1)).toBe(10);
  expect(budgets[0]!.isSpent).toBe(true);
});

it("spends a reserved chunk without the store", async () => {
  const { store, budgets } = setup(2000, 1);
  expect(budgets[0]!.takeReserved(1)).toBe(false);
  expect(await budgets[0]!.take(1)).toBe(true);
  for (let spent = 0; spent < 9; spent++) expect(budgets[0]!.takeReserved(1)).toBe(true);
  expect(budgets[0]!.takeReserved(1)).toBe(false);
  budgets[0]!.refund(1);
  expect(budgets[0]!.takeReserved(1)).toBe(true);
  expect(await store.add(`a:1:${Math.floor(new FakeTimers().unixNow() / 1000)}`, 0, 1)).toBe(10);
});

it("spends in advance until the store reports that the budget is spent", async () => {
  const { timers, budgets } = setup(10, 1);
  const [budget] = budgets;
  for (let spent = 0; spent < 10; spent++) {
    expect(budget!.isSpent).toBe(false);
    budget!.spend(1);
    await flushPromises();
  }
  expect(budget!.isSpent).toBe(true);
  await timers.advance(1000);
  expect(budget!.isSpent).toBe(false);
});

it("tells when the next window starts", async () => {
  const { timers, budgets } = setup(1, 1, 86_400);
  const untilMidnight = 86_400 - ((timers.unixNow() / 1000) % 86_400);
  expect(budgets[0]!.secondsToNextWindow).toBe(Math.ceil(untilMidnight));
});
