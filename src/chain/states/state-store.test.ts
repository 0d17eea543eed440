import { expect, it } from "vitest";
import { stateLimitsFor } from "./state-store.ts";

it("reduces historical states with more validators, but not to zero, and keeps recent ones", () => {
  const [few, many, most] = [64, 500_000, 100_000_000].map(stateLimitsFor);
  expect(many!.historicalStates).toBeLessThan(few!.historicalStates);
  expect(many!.replayedStates).toBeLessThan(few!.replayedStates);
  expect(Math.min(most!.historicalStates, most!.replayedStates)).toBeGreaterThan(0);
  expect(most).toMatchObject({ blockStates: few!.blockStates, advancedStates: few!.advancedStates });
});
