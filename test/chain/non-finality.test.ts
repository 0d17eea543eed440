import { cpSync } from "node:fs";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { BlockRepository } from "../../src/db/repositories/block-repositories.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { advance, makeHistory, openDevChain, QUIET, startDevChain } from "../support/chain/dev-chain.ts";
import { collect } from "../support/db/collect.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const EPOCHS = 21;
/** Five of eight validators are less than two thirds, so nothing is ever justified. */
const TOO_FEW: Partial<DevNodeOptions> = {
  validators: 8,
  activeValidators: [0, 1, 2, 3, 4],
  chainTuning: { snapshotIntervalEpochs: 10 },
};
/** Unfinalized states are stored every eight epochs; a few more blocks are read for other purposes. */
const BLOCKS_BETWEEN_STATES = 8 * SLOTS_PER_EPOCH;

const made = removableDirectory();
/** The chain after its validators have done their duties in all epochs. */
let before: ReturnType<typeof treeOf>;

beforeAll(async () => {
  const { devChain, close } = await startDevChain(TOO_FEW, made.path);
  const { chain } = devChain;
  await advance(devChain, EPOCHS * SLOTS_PER_EPOCH);
  expect(chain.forkChoice.justified.epoch).toBe(0);
  before = treeOf(chain);
  await close();
});

afterAll(() => made.remove());

afterEach(() => {
  vi.restoreAllMocks();
});

/** The chain in the test's own directory. */
function openMade(options: Partial<DevNodeOptions> = QUIET, directory = tempDirectory()) {
  cpSync(made.path, directory, { recursive: true });
  return openDevChain({ ...TOO_FEW, ...options }, directory);
}

/** Counts the blocks read from the database during the work. */
async function countingReads<T>(work: () => Promise<T>): Promise<{ result: T; reads: number }> {
  const get = vi.spyOn(BlockRepository.prototype, "get");
  const result = await work();
  const reads = get.mock.calls.length;
  get.mockRestore();
  return { result, reads };
}

const rootOf = (state: { hashTreeRoot(): Uint8Array } | null): RootHex | null =>
  state && toRootHex(state.hashTreeRoot());

/** Weights by votes alone: in the next slot no block has a proposer boost, which a restart forgets. */
function weightsOf({ forkChoice }: BeaconChain) {
  forkChoice.onTick(forkChoice.currentSlot + 1);
  forkChoice.updateHead();
  return [...forkChoice.all()].map(({ root }) => ({ root, weight: forkChoice.weightOf(root) }));
}

/** The part of fork choice that a restart restores. */
function treeOf(chain: BeaconChain) {
  const { head, forkChoice } = chain;
  const blocks = [head, ...forkChoice.all()].map(({ proposerIndex: _, ...block }) => block);
  return { blocks, weights: weightsOf(chain) };
}

const epochsOf = (positions: { slot: Slot }[]) => positions.map(({ slot }) => Math.floor(slot / SLOTS_PER_EPOCH));

it("a chain that does not finalize restarts from its newest stored state, with all blocks and votes", async () => {
  const { result: again, reads } = await countingReads(() => openMade());
  const { head, headState } = again.devChain.chain;
  expect(treeOf(again.devChain.chain)).toEqual(before);
  expect(rootOf(headState)).toBe(head.stateRoot);
  expect(before.blocks.length).toBeGreaterThan(BLOCKS_BETWEEN_STATES);
  expect(reads).toBeLessThan(BLOCKS_BETWEEN_STATES);
  expect(again.complaints).toEqual([]);
});

it("a start ignores unreadable stored votes", async () => {
  const directory = tempDirectory();
  const first = await openMade(QUIET, directory);
  const batch = first.db.batch();
  batch.meta.putVotes(Uint8Array.of(1, 2, 3));
  await batch.write();
  await first.close();

  const { devChain, complaints } = await openDevChain({ ...TOO_FEW, ...QUIET }, directory);
  expect(treeOf(devChain.chain)).toEqual(before);
  expect(complaints).toEqual([expect.stringContaining("Stored votes unreadable, counting the votes in blocks again")]);
});

it("votes of long inactive validators still count after a restart", async () => {
  const directory = tempDirectory();
  await makeHistory(2 * SLOTS_PER_EPOCH, TOO_FEW, directory);
  const first = await openDevChain({ ...TOO_FEW, activeValidators: [0, 1] }, directory);
  await advance(first.devChain, 26 * SLOTS_PER_EPOCH);
  const before = weightsOf(first.devChain.chain);
  await first.close();
  expect(before[1]!.weight).toBe(5 * 32);

  const { devChain } = await openDevChain({ ...TOO_FEW, ...QUIET }, directory);
  expect(weightsOf(devChain.chain)).toEqual(before);
});

it("a state far behind the head is replayed from the nearest stored one", async () => {
  const { devChain, db } = await openMade();
  const { chain } = devChain;
  expect(epochsOf(await collect(db.snapshots.keys()))).toEqual([0, 8, 16]);
  const blocks = [...chain.forkChoice.ancestors(chain.head.root)].filter(({ slot }) => slot > 0);
  for (const { root, stateRoot } of blocks.filter((_, index) => index % 17 === 0)) {
    const { result: state, reads } = await countingReads(() => chain.states.afterBlock(root));
    expect(rootOf(state)).toBe(stateRoot);
    expect(reads).toBeLessThanOrEqual(BLOCKS_BETWEEN_STATES);
  }
});

it("states of one branch are replayed sequentially, each from the previous one", async () => {
  const { devChain, db } = await openMade();
  const { chain } = devChain;
  const [later, earlier] = [...chain.forkChoice.ancestors(chain.head.root)].filter(
    ({ slot }) => slot < 8 * SLOTS_PER_EPOCH,
  );
  const loads = vi.spyOn(db.snapshots, "get");
  const get = vi.spyOn(db.blocks, "get");

  const states = await Promise.all([earlier!, later!].map(({ root }) => chain.states.afterBlock(root)));

  expect(states.map(rootOf)).toEqual([earlier!.stateRoot, later!.stateRoot]);
  expect(loads).toHaveBeenCalledTimes(1);
  expect(get.mock.calls.filter(([root]) => root === earlier!.root)).toHaveLength(1);
  expect(get.mock.calls.filter(([root]) => root === later!.root)).toHaveLength(1);
});

it("every long branch has its own stored states, and a short one has none", async () => {
  const directory = tempDirectory();
  const { devChain, db, close } = await openDevChain(QUIET, directory);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const genesis = chain.head.root;
  const tips = [genesis, genesis];
  for (let epoch = 1; epoch <= 17; epoch++) {
    await clock.advanceTo(epoch * SLOTS_PER_EPOCH);
    for (const [branch, tip] of tips.entries()) {
      tips[branch] = (await byHand.propose(clock.currentSlot, tip, branch + 1)).root;
    }
  }
  const stub = await byHand.propose(clock.currentSlot, chain.forkChoice.get(tips[0]!)!.parentRoot, 3);
  await chain.store();
  const stored = await collect(db.snapshots.keys());
  expect(epochsOf(stored)).toEqual([0, 8, 8, 16, 16]);
  for (const tip of tips) {
    const own = stored.filter(({ blockRoot }) => chain.forkChoice.isDescendant(blockRoot, tip));
    expect(epochsOf(own)).toEqual([0, 8, 16]);
  }
  await close();

  const again = (await openDevChain(QUIET, directory)).devChain.chain;
  for (const root of [...tips, stub.root]) {
    expect(rootOf(await again.states.afterBlock(root))).toBe(again.forkChoice.get(root)!.stateRoot);
  }
});

it("finality keeps one state per interval, and none of other branches", async () => {
  const directory = tempDirectory();
  const first = await openMade(QUIET, directory);
  const byHand = new ByHand(first.devChain);
  let tip = first.devChain.chain.forkChoice.finalized.root;
  for (let epoch = 1; epoch <= 9; epoch++) tip = (await byHand.propose(epoch * SLOTS_PER_EPOCH, tip)).root;
  await first.devChain.chain.store();
  expect(epochsOf(await collect(first.db.snapshots.keys()))).toEqual([0, 8, 8, 16]);
  await first.close();

  const { devChain, db } = await openDevChain({ ...TOO_FEW, activeValidators: undefined }, directory);
  const { chain } = devChain;
  await advance(devChain, (EPOCHS + 5) * SLOTS_PER_EPOCH);
  const { finalized } = chain.forkChoice;
  expect(finalized.epoch).toBeGreaterThan(EPOCHS);
  await chain.store();
  const stored = await collect(db.snapshots.keys());
  expect(epochsOf(stored)).toEqual([0, 8, 16, finalized.epoch]);
  for (const { slot, blockRoot } of stored) expect(await chain.blocks.rootAtOrBefore(slot)).toBe(blockRoot);
  for (const { root } of await collect(db.hotBlocks.entries())) {
    expect(chain.forkChoice.isDescendant(finalized.root, root)).toBe(true);
  }
});

it("blocks are imported while the state for a block on an old branch is replayed", async () => {
  const stateLimits = { blockStates: 4, advancedStates: 1, historicalStates: 1, replayedStates: 1 };
  const { devChain, db } = await openMade({ ...QUIET, chainTuning: { ...TOO_FEW.chainTuning, stateLimits } });
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const fork = chain.forkChoice.canonicalAtSlot(12 * SLOTS_PER_EPOCH)!;
  await clock.advanceTo(chain.head.slot + 2);
  const onOld = byHand.sign(await byHand.produce(clock.currentSlot, fork.root, 1));
  const onHead = byHand.sign(await byHand.produce(clock.currentSlot, chain.head.root, 2));

  const hold = Promise.withResolvers<void>();
  const { get } = db.snapshots;
  const loads = vi.spyOn(db.snapshots, "get").mockImplementation(async (...position) => {
    await hold.promise;
    return Reflect.apply(get, db.snapshots, position);
  });
  const old = chain.importBlock(onOld.signed);
  await vi.waitFor(() => expect(loads).toHaveBeenCalled());
  await chain.importBlock(onHead.signed);
  expect(chain.forkChoice.has(onHead.root)).toBe(true);
  expect(chain.forkChoice.has(onOld.root)).toBe(false);
  hold.resolve();
  await old;
  expect(chain.forkChoice.has(onOld.root)).toBe(true);
});
