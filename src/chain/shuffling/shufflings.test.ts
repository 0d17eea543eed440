import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import type { StateStore } from "../states/state-store.ts";
import { Shufflings } from "./shufflings.ts";

const EPOCH = 2;
/** Dependent slot of the epoch's shuffling. */
const DECIDING = SLOTS_PER_EPOCH - 1;
const LATEST = EPOCH * SLOTS_PER_EPOCH + 1;

let chain: TestChain;
let roots: Map<number, RootHex>;
beforeEach(() => {
  chain = new TestChain("phase0");
  roots = new Map();
  for (let slot = 1; slot <= LATEST; slot++) roots.set(slot, chain.extend(slot));
  chain.forkChoice.updateHead();
});
afterEach(() => chain.close());

function branchFrom(slot: number, nextSlot = LATEST): RootHex {
  return chain.extend(nextSlot, { parent: roots.get(slot), graffiti: 1 });
}

/** Shufflings for which the states of these blocks are cached; all other states are requested. */
function shufflingsWith(...cachedRoots: RootHex[]) {
  const states = {
    cached: (root: RootHex) => (cachedRoots.includes(root) ? chain.stateAfter(root) : undefined),
    afterBlock: vi.fn<StateStore["afterBlock"]>(async (root) => chain.stateAfter(root)),
    atCheckpoint: vi.fn<StateStore["atCheckpoint"]>(async ({ root, epoch }) =>
      chain.advanced(root, computeStartSlotAtEpoch(epoch)),
    ),
  };
  const shufflings = new Shufflings({
    forkChoice: chain.forkChoice,
    states,
    regenerations: { run: (_, regenerate) => regenerate() },
  });
  return { shufflings, states };
}

const committeesOf = (root: RootHex, epoch = EPOCH) =>
  chain.advanced(root, computeStartSlotAtEpoch(epoch)).epochCtx.getShufflingAtEpoch(epoch).committees;

it("branches with the same dependent block share the shuffling without a state", async () => {
  const { root: head } = chain.forkChoice.head;
  const branch = branchFrom(DECIDING);
  const { shufflings, states } = shufflingsWith(head);
  const shuffling = await shufflings.of(branch, EPOCH);
  expect(shuffling.committees).toEqual(committeesOf(branch));
  expect(await shufflings.of(head, EPOCH)).toBe(shuffling);
  expect(states.afterBlock).not.toHaveBeenCalled();
});

it("a branch with another dependent block requests one state once, without caching it", async () => {
  const { root: head } = chain.forkChoice.head;
  const branch = branchFrom(DECIDING - 1);
  const { shufflings, states } = shufflingsWith(head);
  const [first, second] = await Promise.all([shufflings.of(branch, EPOCH), shufflings.of(branch, EPOCH)]);
  expect(first.committees).toEqual(committeesOf(branch));
  expect(first.committees).not.toEqual(committeesOf(head));
  expect(second).toBe(first);
  expect(await shufflings.of(branch, EPOCH)).toBe(first);
  expect(states.afterBlock.mock.calls).toEqual([[branch, undefined, { keep: false }]]);
});

it("does not advance the state of a block in the previous epoch", async () => {
  const branch = branchFrom(DECIDING - 1, SLOTS_PER_EPOCH);
  const { shufflings, states } = shufflingsWith();
  expect((await shufflings.of(branch, EPOCH)).committees).toEqual(committeesOf(branch));
  expect(states.afterBlock).toHaveBeenCalledOnce();
  expect(states.atCheckpoint).not.toHaveBeenCalled();
});

it("uses the checkpoint state for an older block", async () => {
  const { root: head } = chain.forkChoice.head;
  const { shufflings, states } = shufflingsWith(head);
  expect((await shufflings.of(head, EPOCH + 3)).committees).toEqual(committeesOf(head, EPOCH + 3));
  expect(states.atCheckpoint.mock.calls).toEqual([[{ epoch: EPOCH + 3, root: head }]]);
});

it("retries a failed request", async () => {
  const { root: head } = chain.forkChoice.head;
  const { shufflings, states } = shufflingsWith();
  states.afterBlock.mockRejectedValueOnce(new Error("too many wait"));
  await expect(shufflings.of(head, EPOCH)).rejects.toThrow("too many wait");
  expect((await shufflings.of(head, EPOCH)).committees).toEqual(committeesOf(head));
});

it("blocks whose dependent block was pruned share the shuffling", async () => {
  const branch = branchFrom(LATEST - 1);
  const finalized = { epoch: EPOCH, root: roots.get(EPOCH * SLOTS_PER_EPOCH)! };
  chain.extend(LATEST + 1, { parent: roots.get(LATEST), finalized });
  chain.forkChoice.prune();
  const { root: head } = chain.forkChoice.updateHead();
  const { shufflings, states } = shufflingsWith(head);
  expect((await shufflings.of(branch, EPOCH)).committees).toEqual(committeesOf(branch));
  expect(states.afterBlock).not.toHaveBeenCalled();
});
