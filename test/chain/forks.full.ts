import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { DEV_FORKS } from "../../src/dev/forks.ts";
import { advance, openDevChain } from "../support/chain/dev-chain.ts";

it.each(DEV_FORKS)("a dev chain that starts in %s finalizes", async (fork) => {
  const { devChain, complaints } = await openDevChain({ forks: fork === "phase0" ? [] : [{ fork, epoch: 0 }] });
  const { chain, config } = devChain;

  await advance(devChain, 4 * SLOTS_PER_EPOCH);

  expect(config.getForkName(0)).toBe(fork);
  expect(complaints).toEqual([]);
  expect(chain.head.slot).toBe(4 * SLOTS_PER_EPOCH);
  // All validators attested in every slot, so finality is as fast as the rules allow.
  expect(chain.forkChoice.finalized.epoch).toBe(2);
  expect(chain.headState.finalizedCheckpoint.epoch).toBe(2);
});

it("a chain with one fork per epoch finalizes through all forks", async () => {
  const ladder = DEV_FORKS.slice(1).map((fork, i) => ({ fork, epoch: i + 1 }));
  const { devChain, complaints } = await openDevChain({ forks: ladder });
  const { chain, clock, config } = devChain;
  const blockForks = new Set<string>();
  chain.events.on("block", ({ slot }) => blockForks.add(config.getForkName(slot)));

  await clock.advanceTo(9 * SLOTS_PER_EPOCH);

  expect(complaints).toEqual([]);
  expect([...blockForks]).toEqual([...DEV_FORKS]);
  expect(chain.forkChoice.finalized.epoch).toBe(7);
});
