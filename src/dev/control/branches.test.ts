import type { RootHex } from "@lodestar/types";
import { expect, it } from "vitest";
import { ControlError } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ForkChoiceBlock } from "../../chain/fork-choice/types.ts";
import { DevBranches } from "./branches.ts";
import type { DevTime } from "./time.ts";

const rootOf = (slot: number): RootHex => `0x${slot}`;
const HEAD_SLOT = 5;

/** Creates branches on a chain with a block in every slot up to the head. New slots stay empty. */
function branchesOf({ justified, unrealized }: { justified: number; unrealized: number }) {
  const blocks = Array.from(
    { length: HEAD_SLOT + 1 },
    (_, slot) => ({ slot, root: rootOf(slot), parentRoot: rootOf(slot - 1) }) as ForkChoiceBlock,
  );
  const parents: (RootHex | undefined)[] = [];
  const chain = {
    refreshHead: async () => {},
    head: blocks[HEAD_SLOT],
    clock: { currentSlot: HEAD_SLOT },
    forkChoice: {
      justified: { root: rootOf(justified) },
      unrealizedJustified: { root: rootOf(unrealized) },
      ancestors: () => blocks.toReversed().values(),
      blocksAtSlot: () => [],
    },
  } as unknown as BeaconChain;
  const time = {
    whilePaused: (work: () => Promise<unknown>) => work(),
    advanceSlot: async () => void parents.push(branches.plan?.parentRoot),
  } as unknown as DevTime;
  const branches = new DevBranches({ chain, time });
  return { branches, parents };
}

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof ControlError ? error.message : error),
  );

it.each([
  ["the justified block", { justified: 2, unrealized: 0 }, 3],
  ["the unrealized justified block", { justified: 0, unrealized: 3 }, 2],
  ["the later of both", { justified: 1, unrealized: 4 }, 1],
])("a reorg reaches down to %s", async (_, checkpoints, deepest) => {
  const { branches, parents } = branchesOf(checkpoints);
  expect(await refusalOf(branches.reorg(deepest + 1))).toBe(
    `The last ${deepest + 1} blocks cannot be replaced: only ${deepest} follow the justified block.`,
  );
  expect(parents).toEqual([]);
  expect(await refusalOf(branches.reorg(deepest))).toMatch(/did not become the head/);
  expect(new Set(parents)).toEqual(new Set([rootOf(HEAD_SLOT - deepest)]));
  expect(branches.plan).toBeUndefined();
});

it("an unrealized justified head cannot be replaced", async () => {
  const { branches, parents } = branchesOf({ justified: 0, unrealized: HEAD_SLOT });
  expect(await refusalOf(branches.reorg(1))).toBe(
    "The last block cannot be replaced: the head is the justified block.",
  );
  expect(parents).toEqual([]);
});
