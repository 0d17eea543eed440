import { expect, it } from "vitest";
import { stateLimitsFor } from "./state-limits.ts";

it.each([
  [64, { historicalStates: 4, replayedStates: 64 }],
  [500_000, { historicalStates: 2, replayedStates: 32 }],
  [1_000_000, { historicalStates: 1, replayedStates: 16 }],
  [100_000_000, { historicalStates: 1, replayedStates: 16 }],
])("caches fewer historical states of %i validators, but always the recent ones", (validators, historical) => {
  expect(stateLimitsFor(validators)).toEqual({ blockStates: 64, advancedStates: 16, ...historical });
});
