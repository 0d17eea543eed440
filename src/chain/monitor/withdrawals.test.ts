import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { GloasChain } from "../../../test/support/chain/gloas-chain.ts";
import { withdrawalsSince } from "./withdrawals.ts";

it("returns each withdrawal once, before and since gloas, although payloads are withheld", async () => {
  const gloas = await GloasChain.open({
    validators: 8,
    forks: [{ fork: "gloas", epoch: 1 }],
    withdrawals: [{ value: { prefix: "0x01" } }],
  });
  const { chain } = gloas;
  await gloas.run(11);
  await gloas.run(2, { payload: "withhold" });
  await gloas.run(4);
  await gloas.run(1, { payload: "withhold" });
  const indexOf = async (slot: number) => {
    const { root } = (await chain.blocks.canonicalAtSlot(slot))!;
    return ((await chain.states.afterBlock(root)) as CachedBeaconStateGloas).nextWithdrawalIndex;
  };
  // Slots before the fork, at the fork, and around the withheld payloads.
  for (const since of [0, 5, 7, 8, 11, 12, 13, 14, 17]) {
    const indices: number[] = [];
    const { blocks, payloadStore, headState: state, head } = chain;
    for await (const withdrawals of withdrawalsSince(since, { blocks, payloadStore, state, blockRoot: head.root })) {
      indices.unshift(...withdrawals.map(({ index }) => index));
    }
    const first = since === 0 ? 0 : await indexOf(since);
    const count = (await indexOf(18)) - first;
    expect(indices, `since slot ${since}`).toEqual(Array.from({ length: count }, (_, index) => first + index));
    if (since < 11) expect(count).toBeGreaterThan(0);
  }
});
