import { expect, it } from "vitest";
import { compareBlocks } from "./interpreter-blocks.ts";

it("blocks of 300 random transactions have the results of the EVM library's interpreter", async () => {
  const { succeeded, failed } = await compareBlocks(300, 1);
  expect(succeeded).toBeGreaterThan(100);
  expect(failed).toBeGreaterThan(20);
});
