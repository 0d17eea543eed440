import { join } from "node:path";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { initialiseDatabase } from "../../src/chain/anchor/anchor.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { Checkpoint } from "../../src/chain/fork-choice/types.ts";
import { forkSchedule } from "../../src/cli/flags/dev/fork-schedule.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { EMPTY_SLOTS, LAST_SLOT, makeChainWithGap } from "../support/chain/chain-with-gap.ts";
import { type OpenedDevChain, openDevChain, QUIET, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { openFollower } from "../support/chain/follower.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const HISTORY_SLOTS = 60;

/** The chain that the others follow from one of its states. */
let source: OpenedDevChain;
beforeAll(async () => {
  source = await startQuietDevChain(HISTORY_SLOTS, { validators: 8 });
}, 120_000);
afterAll(() => source?.close());

/** The block of a slot. A chain without gaps has one in every slot. */
async function blockAt(slot: number, from = source) {
  return (await from.devChain.chain.blocks.canonicalAtSlot(slot))!;
}

const open = (db: BeaconDb, { devChain } = source): Promise<BeaconChain> => openFollower(db, devChain, HISTORY_SLOTS);

/** A database with only the post-state of a block, advanced to a slot. */
async function anchoredAt(blockSlot: number, slot = blockSlot, from = source): Promise<BeaconDb> {
  const { config, chain } = from.devChain;
  const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
  onTestFinished(() => db.close());
  const state = await chain.states.afterBlock((await blockAt(blockSlot, from)).root, slot);
  await initialiseDatabase(db, config, { state }, {});
  return db;
}

it.each([
  ["the first slot of an epoch", 24],
  ["the middle of an epoch", 29],
  ["the last slot of an epoch", 31],
])("a chain that was started from a state in %s is followed to its head and finalizes", async (_, slot) => {
  const db = await anchoredAt(slot);
  const chain = await open(db);
  for (let next = slot + 1; next <= HISTORY_SLOTS; next++) {
    expect(await chain.importBlock((await blockAt(next)).signed)).toMatchObject({ known: false });
  }
  const { head, headState, forkChoice } = source.devChain.chain;
  expect(chain.head.root).toBe(head.root);
  expect(chain.headState.hashTreeRoot()).toEqual(headState.hashTreeRoot());
  expect(chain.forkChoice.finalized).toEqual(forkChoice.finalized);
  expect(chain.forkChoice.justified).toEqual(forkChoice.justified);
  // The finalized history of this chain starts with the anchor.
  expect((await chain.states.canonicalAtSlot(slot + 1))?.slot).toBe(slot + 1);
  expect(await chain.states.canonicalAtSlot(slot - 1)).toBeNull();
  await chain.close();

  const again = await open(db);
  expect(again.head.root).toBe(head.root);
  expect(again.forkChoice.finalized).toEqual(forkChoice.finalized);
  await again.close();
});

it("blocks before the slot of an advanced anchor state are rejected, and the chain is unchanged", async () => {
  const chain = await open(await anchoredAt(29, 31));
  await expect(chain.importBlock((await blockAt(30)).signed)).rejects.toMatchObject({ reason: "before-history" });
  expect(chain.head.slot).toBe(29);
  expect(chain.headState.slot).toBe(31);
  await chain.close();
});

it("the anchor block may become the checkpoint of the next epoch if its first slot is empty", async () => {
  const directory = tempDirectory();
  await makeChainWithGap(directory, { fork: "phase0" });
  const withGap = await openDevChain({ ...QUIET, validators: 8, forks: forkSchedule("phase0", []) }, directory);
  const [firstEmpty, lastEmpty] = EMPTY_SLOTS;
  const db = await anchoredAt(firstEmpty - 1, firstEmpty - 1, withGap);
  const anchor = await blockAt(firstEmpty - 1, withGap);
  const chain = await open(db, withGap);
  expect(chain.finalizedCheckpoint.epoch).toBeLessThan(chain.forkChoice.finalized.epoch);
  const finalized: Checkpoint[] = [];
  chain.events.on("finalized", ({ epoch, root }) => finalized.push({ epoch, root }));
  for (let slot = lastEmpty + 1; slot <= LAST_SLOT; slot++) {
    await chain.importBlock((await blockAt(slot, withGap)).signed);
  }
  expect(finalized).toContainEqual({ epoch: computeEpochAtSlot(lastEmpty), root: anchor.root });
  expect(chain.finalizedCheckpoint).toEqual(withGap.devChain.chain.forkChoice.finalized);
  await chain.close();
  const again = await open(db, withGap);
  expect(again.finalizedCheckpoint).toEqual(chain.finalizedCheckpoint);
  expect((await again.states.canonicalAtSlot(lastEmpty))?.slot).toBe(lastEmpty);
  await again.close();
});

it("a genesis state whose block is not the usual one opens without that block", async () => {
  const { config, chain } = source.devChain;
  const state = (await chain.states.genesis())!.clone();
  state.latestBlockHeader.bodyRoot = new Uint8Array(32).fill(1);
  state.commit();
  const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
  onTestFinished(() => db.close());
  await initialiseDatabase(db, config, { state }, {});
  const opened = await open(db);
  expect(opened.head.slot).toBe(0);
  expect(await opened.blocks.canonicalAtSlot(0)).toBeNull();
  await opened.close();
});
