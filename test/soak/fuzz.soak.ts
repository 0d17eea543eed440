import { expect, test } from "vitest";
import { fuzzNode } from "../support/fuzz/fuzzed-node.ts";

const { SOAK_FUZZ = "1000000", FANAL_TEST_SEED = String(Date.now() % 2 ** 31) } = process.env;

/** What the caches of a node may grow by, once it has answered its first thousand requests. */
const MOST_GROWTH_BYTES = 64 * 2 ** 20;

test(`${SOAK_FUZZ} fuzzed requests neither break a node nor stay in its memory`, async () => {
  const { answers, growthBytes } = await fuzzNode({ requests: Number(SOAK_FUZZ), seed: Number(FANAL_TEST_SEED) });
  console.info(`The node grew by ${(growthBytes / 2 ** 20).toFixed(1)} MiB.`);
  console.info(Object.fromEntries([...answers].sort(([, a], [, b]) => b - a)));
  expect(growthBytes).toBeLessThan(MOST_GROWTH_BYTES);
});
