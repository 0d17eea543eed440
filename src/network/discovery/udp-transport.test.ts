import { expect, it } from "vitest";
import { PacketRateLimiter } from "./udp-transport.ts";

it("limits the packets per second, per address and in total", () => {
  const budget = new PacketRateLimiter({ perSecond: 5, perSecondAndAddress: 3 });
  const passed = (address: string, nowMs: number, times: number) =>
    Array.from({ length: times }, () => budget.allows(address, nowMs)).filter(Boolean).length;
  expect(passed("a", 10_000, 9)).toBe(3);
  expect(passed("b", 10_400, 9)).toBe(2);
  expect(passed("c", 10_999, 9)).toBe(0);
  expect(passed("a", 11_000, 9)).toBe(3);
});
