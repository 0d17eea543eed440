import { afterEach, expect, it, vi } from "vitest";
import type { DevChain, DevChainOptions } from "../../src/library/index.ts";
import { ChainPool, type ChainSetup } from "../../src/library/testing/chain-pool.ts";

const pool = new ChainPool();
afterEach(() => pool.stop());

const recipe = (options: DevChainOptions = {}, setup?: ChainSetup) => ({
  options: { validators: 8, evm: false, ...options },
  setup,
});

/** Runs a test body on a leased chain. Returns the chain. */
async function use(body: (chain: DevChain) => unknown = () => {}, chosen = recipe()): Promise<DevChain> {
  const { chain, release } = await pool.lease(chosen);
  await body(chain);
  await release();
  return chain;
}

it("shares a chain between tests with equal options, in any order and spelling", async () => {
  const chain = await use(undefined, recipe({ graffiti: "x", slotSeconds: 6 }));
  const { validators, ...others } = recipe({ slotSeconds: 6n, graffiti: "x" }).options;
  expect(await use(undefined, { options: { ...others, validators: 8n }, setup: undefined })).toBe(chain);
  expect(await use(undefined, recipe({ graffiti: "y", slotSeconds: 6 }))).not.toBe(chain);
  expect(await use(undefined, recipe({ graffiti: "x", slotSeconds: 6, log: () => {} }))).not.toBe(chain);
});

it("reverts everything that a test changed", async () => {
  const chain = await use(async (first) => {
    await first.validators.setOffline("7");
    await first.validator(3).slash();
    await first.snapshot();
    await first.advance({ epochs: 1 });
  });
  await use(async (second) => {
    expect(second).toBe(chain);
    expect((await second.head()).head_slot).toBe("0");
    expect((await second.client.dev_getValidators()).offline).toEqual([]);
    expect(await second.client.get_v1_beacon_pool_proposer_slashings()).toEqual([]);
  });
});

it("sets a chain up once, before its first snapshot", async () => {
  const setup = vi.fn((chain: DevChain) => chain.advance({ slots: 3 }));
  await pool.prepare(recipe({}, setup));
  for (const _test of [1, 2]) {
    await use(
      async (chain) => {
        expect((await chain.head()).head_slot).toBe("3");
        await chain.advance();
      },
      recipe({}, setup),
    );
  }
  expect(setup).toHaveBeenCalledTimes(1);
});

it("stops a chain whose setup fails", async () => {
  let failed: DevChain | undefined;
  const setup = (chain: DevChain) => {
    failed = chain;
    throw new Error("No contract.");
  };
  await expect(pool.lease(recipe({}, setup))).rejects.toThrow("No contract.");
  await expect(failed?.head()).rejects.toThrow("The chain is stopped.");
});

it("gives concurrent tests chains of their own", async () => {
  const leases = await Promise.all([pool.lease(recipe()), pool.lease(recipe())]);
  const [one, other] = leases.map(({ chain }) => chain);
  expect(one).not.toBe(other);
  await Promise.all(leases.map(({ release }) => release()));
  expect([one, other]).toContain(await use());
});

it.each<[what: string, change: (chain: DevChain) => Promise<unknown>]>([
  ["was stopped", (chain) => chain.stop()],
  ["has a running clock", (chain) => chain.client.dev_setSpeed({ speed: 1 })],
])("replaces a chain that %s after its test", async (_what, change) => {
  const changed = await use(change);
  await use(async (chain) => {
    expect(chain).not.toBe(changed);
    expect(await chain.client.getChainTime()).toMatchObject({ speed: 0, slot: "0" });
  });
  await expect(changed.head()).rejects.toThrow("The chain is stopped.");
});

it("stops all chains, and can be used again", async () => {
  const stopped = await use();
  await pool.stop();
  await expect(stopped.head()).rejects.toThrow("The chain is stopped.");
  expect(await use()).not.toBe(stopped);
});
