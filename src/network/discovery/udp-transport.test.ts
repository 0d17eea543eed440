import { expect, it } from "vitest";
import { PacketBudget } from "./udp-transport.ts";

it("lets so many packets of an address, and of all together, pass in a second", () => {
  const budget = new PacketBudget({ perSecond: 5, perSecondAndAddress: 3 });
  const passed = (address: string, nowMs: number, times: number) =>
    Array.from({ length: times }, () => budget.allows(address, nowMs)).filter(Boolean).length;
  expect(passed("a", 10_000, 9)).toBe(3);
  expect(passed("b", 10_400, 9)).toBe(2);
  expect(passed("c", 10_999, 9)).toBe(0);
  expect(passed("a", 11_000, 9)).toBe(3);
});
