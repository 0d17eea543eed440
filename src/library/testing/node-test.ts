import { after, it, type TestContext, type TestOptions } from "node:test";
import type { ForkName } from "../../client/chain-types.ts";
import type { DevChain, DevChainOptions, Epoch, ForksOf } from "../dev-chain.ts";
import { ChainPool, type ChainSetup } from "./chain-pool.ts";

export type { ChainSetup };

/** Body of a test with a chain. */
export type ChainTestFn<F extends ForkName> = (
  fixtures: { readonly chain: DevChain<F> },
  context: TestContext,
) => unknown;

/** `test` from node:test, for tests with a chain. */
export interface ChainTest<F extends ForkName> {
  (name: string, fn: ChainTestFn<F>): Promise<void>;
  (name: string, options: TestOptions, fn: ChainTestFn<F>): Promise<void>;
}

const pool = new ChainPool();
after(() => pool.stop());

/**
 * Returns a `test` function whose tests get a `chain`. Tests with the same options share one chain, which is reverted
 * after each test. `setup` runs once per chain, before its first test.
 */
export function chainTest<
  Genesis extends ForkName = never,
  Later extends ForkName = never,
  Directory extends string = never,
  GloasAt extends Epoch = never,
>(
  options: DevChainOptions<Genesis, Later, Directory, GloasAt> = {},
  setup?: ChainSetup<ForksOf<Genesis, Later, Directory, GloasAt>>,
): ChainTest<ForksOf<Genesis, Later, Directory, GloasAt>> {
  type Fn = ChainTestFn<ForksOf<Genesis, Later, Directory, GloasAt>>;
  return (name: string, ...rest: [Fn] | [TestOptions, Fn]) => {
    const [testOptions, fn] = rest.length === 1 ? [{}, rest[0]] : rest;
    return it(name, testOptions, async (context) => {
      const { chain, release } = await pool.lease({ options, setup });
      // The body of a timed-out test keeps running. Stopping the chain rejects its calls.
      const stop = () => void chain.stop();
      context.signal.addEventListener("abort", stop);
      try {
        await fn({ chain }, context);
      } finally {
        context.signal.removeEventListener("abort", stop);
        await release();
      }
    });
  };
}
