import { expect, it } from "vitest";
import { addBlock, makeBlock, makeForkChoice, root } from "../../../test/support/chain/fork-choice/blocks.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { countedVotes, putCountedVotes, serializeForkChoiceBlock } from "../fork-choice/stored-fork-choice.ts";
import { restoreCountedBlocks } from "./restore-counted-blocks.ts";

/** Genesis is block 1. Blocks 2 and 4 form one branch, and block 3 forms the other. */
const BLOCKS: [id: number, parent: number, slot: number][] = [
  [2, 1, 1],
  [3, 1, 2],
  [4, 2, 3],
];

async function store(db: BeaconDb, blocks: typeof BLOCKS): Promise<void> {
  const batch = db.batch();
  for (const block of blocks.map((parts) => makeBlock(...parts))) {
    batch.hotBlocks.put(block.slot, block.root, block.parentRoot, serializeForkChoiceBlock(block));
  }
  await batch.write();
}

/** Three of four validators vote for block 3, and one of them equivocates. */
async function votedChain(db: BeaconDb): Promise<ForkChoice> {
  const forkChoice = makeForkChoice();
  for (const block of BLOCKS) addBlock(forkChoice, ...block);
  await store(db, BLOCKS);
  forkChoice.onTick(4);
  forkChoice.onAttestation({ indices: [0, 1, 2], slot: 3, targetEpoch: 0, blockRoot: root(3) });
  forkChoice.onAttestation({ indices: [3], slot: 3, targetEpoch: 0, blockRoot: root(4) });
  forkChoice.onAttesterSlashing([2]);
  const batch = db.batch();
  await putCountedVotes(batch, countedVotes(forkChoice));
  await batch.write();
  return forkChoice;
}

it("a restored fork choice has the blocks, the weights and the head of the stored one", async () => {
  const db = await openEmptyDatabase();
  const before = await votedChain(db);
  const restored = makeForkChoice();
  const logger = createRecordingLogger();
  expect(await restoreCountedBlocks({ db, forkChoice: restored, logger })).toBe(BLOCKS.length);
  restored.onTick(4);
  expect(restored.updateHead()).toEqual(before.updateHead());
  expect(restored.head.root).toBe(root(3));
  for (const id of [1, 2, 3, 4]) expect(restored.weightOf(root(id))).toBe(before.weightOf(root(id)));
  expect(restored.weightOf(root(3))).toBe(64);
});

it("restores only blocks that are counted, up to the stored leaves", async () => {
  const db = await openEmptyDatabase();
  await votedChain(db);
  await store(db, [[5, 3, 4]]);
  const restored = makeForkChoice();
  await restoreCountedBlocks({ db, forkChoice: restored, logger: createRecordingLogger() });
  expect([2, 3, 4, 5].map((id) => restored.has(root(id)))).toEqual([true, true, true, false]);
});

it("restores nothing without stored votes", async () => {
  const db = await openEmptyDatabase();
  await store(db, BLOCKS);
  const forkChoice = makeForkChoice();
  expect(await restoreCountedBlocks({ db, forkChoice, logger: createRecordingLogger() })).toBe(0);
  expect(forkChoice.has(root(2))).toBe(false);
});
