import { expect, it } from "vitest";
import { compareBlocks } from "./interpreter-blocks.ts";

it.each([
  ["osaka", 300],
  ["amsterdam", 200],
] as const)("random blocks of %s have the results of the EVM library's interpreter", async (fork, count) => {
  const { succeeded, failed } = await compareBlocks(count, 1, fork);
  expect(succeeded).toBeGreaterThan(100);
  expect(failed).toBeGreaterThan(20);
});
