import { expect, it } from "vitest";
import { GloasChain } from "../support/chain/gloas-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

/** Lets a slot pass without a block, in which all but the proposer attest to the head. Returns the head's weights. */
async function voteInEmptySlot(gloas: GloasChain): Promise<{ empty: number; full: number }> {
  const { chain } = gloas;
  const slot = chain.clock.currentSlot + 1;
  const proposer = (await chain.states.afterBlock(chain.head.root, slot)).epochCtx.getBeaconProposer(slot);
  const online = new Set(Array.from({ length: chain.headState.validators.length }, (_, index) => index));
  online.delete(proposer);
  await gloas.run(1, { online });
  await gloas.nextSlot();
  return weightsOf(gloas);
}

async function weightsOf({ chain }: GloasChain): Promise<{ empty: number; full: number }> {
  await chain.refreshHead();
  const { root } = chain.head;
  return { empty: chain.forkChoice.weightOf(root, "empty"), full: chain.forkChoice.weightOf(root, "full") };
}

it("attestations of a later slot count for the head with its payload, also after a restart", async () => {
  const directory = tempDirectory();
  const gloas = await GloasChain.open({}, directory);
  await gloas.run(2);
  const { empty, full } = await voteInEmptySlot(gloas);
  expect(gloas.head).toEqual([2, "full"]);
  expect(empty).toBe(0);
  expect(full).toBeGreaterThan(0);
  await gloas.opened.close();
  const again = await GloasChain.open({}, directory);
  expect(again.head).toEqual([2, "full"]);
  expect(await weightsOf(again)).toEqual({ empty, full });
});

it("attestations of a later slot count for the head without its payload", async () => {
  const gloas = await GloasChain.open();
  await gloas.run(1);
  await gloas.run(1, { payload: "withhold" });
  const { empty, full } = await voteInEmptySlot(gloas);
  expect(gloas.head).toEqual([2, "empty"]);
  expect(empty).toBeGreaterThan(0);
  expect(full).toBe(0);
});
