import { expect, it } from "vitest";
import { fuzzNode } from "../support/fuzz/fuzzed-node.ts";

const { SOAK_FUZZ = "1000000", FANAL_TEST_SEED = String(Date.now() % 2 ** 31) } = process.env;

const FIRST_REQUESTS = 10_000;
/** Allowed growth of caches, and of memory by fragmentation. */
const MOST_HELD_BYTES = 16 * 2 ** 20;
const MOST_RESIDENT_BYTES = 128 * 2 ** 20;

it(`${SOAK_FUZZ} fuzzed requests neither break a node nor leak memory`, async () => {
  const { answers, growth } = await fuzzNode({
    firstRequests: FIRST_REQUESTS,
    requests: Number(SOAK_FUZZ),
    seed: Number(FANAL_TEST_SEED),
  });
  console.info(Object.fromEntries([...answers].sort(([, a], [, b]) => b - a)));
  console.info("The node grew by", growth);
  expect(growth.heldBytes).toBeLessThan(MOST_HELD_BYTES);
  expect(growth.residentBytes).toBeLessThan(MOST_RESIDENT_BYTES);
});
