import { beforeAll, expect, it, type TestAPI } from "vitest";
import type { ForkName } from "../../client/chain-types.ts";
import type { DevChain, DevChainOptions, Epoch, ForksOf } from "../dev-chain.ts";
import { type ChainMatchers, chainMatchers } from "./chain-matchers.ts";
import { ChainPool, type ChainSetup } from "./chain-pool.ts";

export { expect } from "vitest";
export type { ChainMatchers, ChainSetup };

declare global {
  // The assertions of vitest 3 to 5 extend these interfaces. Vitest's own interfaces have different type parameters in
  // each version.
  namespace Chai {
    interface Assertion extends ChainMatchers {}
  }
}

/** The first start in a process loads the libraries. */
const START_TIMEOUT_MS = 120_000;

expect.extend(chainMatchers);

const pool = new ChainPool();

/** Stops the chains when the worker ends. */
const testWithPool = it.extend<{ chainPool: ChainPool }>({
  chainPool: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the dependencies of a fixture from its pattern.
    async ({}, use) => {
      await use(pool);
      await pool.stop();
    },
    { scope: "worker" },
  ],
});

/**
 * Returns a `test` function whose tests get a `chain`. Tests with the same options share one chain per worker, which is
 * reverted after each test. `setup` runs once per chain, before its first test.
 */
export function chainTest<
  Genesis extends ForkName = never,
  Later extends ForkName = never,
  Directory extends string = never,
  GloasAt extends Epoch = never,
>(
  options: DevChainOptions<Genesis, Later, Directory, GloasAt> = {},
  setup?: ChainSetup<ForksOf<Genesis, Later, Directory, GloasAt>>,
): TestAPI<{ chain: DevChain<ForksOf<Genesis, Later, Directory, GloasAt>> }> {
  const recipe = { options, setup };
  // Has its own timeout, so the start does not count against the timeout of the first test.
  beforeAll(() => pool.prepare(recipe), START_TIMEOUT_MS);
  return testWithPool.extend<{ chain: DevChain<ForksOf<Genesis, Later, Directory, GloasAt>> }>({
    chain: async ({ chainPool, signal }, use) => {
      const { chain, release } = await chainPool.lease(recipe);
      await use(chain);
      // The body of a timed-out test keeps running. Stopping the chain rejects its calls.
      if (signal.aborted) await chain.stop();
      await release();
    },
  });
}
