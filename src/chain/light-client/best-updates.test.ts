import { BitArray } from "@chainsafe/ssz";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { type LightClientUpdateSummary, toLightClientUpdateSummary } from "@lodestar/state-transition/light-client";
import { type LightClientUpdate, type RootHex, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { BestUpdates, type Candidate } from "./best-updates.ts";

const PERIOD_SLOTS = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;

interface TestBlock {
  slot: number;
  root: RootHex;
  parent?: RootHex;
}

/** A chain of block headers whose first block is finalized. By default, its database stays empty. */
function open(blocks: readonly TestBlock[], head: RootHex, db?: BeaconDb) {
  const byRoot = new Map(blocks.map((block) => [block.root, block]));
  const ancestors = (root: RootHex | undefined): RootHex[] =>
    root === undefined ? [] : [root, ...ancestors(byRoot.get(root)?.parent)];
  const state = { head, reads: 0, finalized: blocks[0]!.root };
  const updates = new BestUpdates({
    config: createBeaconConfig({ ...chainConfig, ALTAIR_FORK_EPOCH: 0 }, new Uint8Array(32)),
    db: (db ?? {
      lightClient: {
        firstPeriodFrom: async () => null,
        get: async () => {
          state.reads++;
          return null;
        },
      },
    }) as BeaconDb,
    forkChoice: {
      get finalized() {
        return { root: state.finalized };
      },
      get: (root: RootHex) => byRoot.get(root),
      has: (root: RootHex) => byRoot.has(root),
      isDescendant: (ancestor: RootHex, root: RootHex) => ancestors(root).includes(ancestor),
    } as unknown as ForkChoice,
    blocks: { isCanonical: async (root: RootHex) => ancestors(state.head).includes(root) } as unknown as BlockStore,
    derive: async () => undefined,
  });
  return { updates, state };
}

const summary = (activeParticipants: number): LightClientUpdateSummary => ({
  activeParticipants,
  attestedHeaderSlot: 1,
  signatureSlot: 2,
  finalizedHeaderSlot: 0,
  isSyncCommitteeUpdate: true,
  isFinalityUpdate: false,
});

const candidate = ({ slot, root }: TestBlock, participants: number): Candidate => ({
  slot,
  root,
  summary: summary(participants),
  update: { signatureSlot: slot } as LightClientUpdate,
});

const GENESIS = { slot: 0, root: "genesis" };

describe("BestUpdates", () => {
  it("reads no periods beyond the newest known one", async () => {
    const orphan = { slot: PERIOD_SLOTS + 1, root: "orphan", parent: GENESIS.root };
    const head = { slot: PERIOD_SLOTS + 2, root: "head", parent: GENESIS.root };
    const { updates, state } = open([GENESIS, orphan, head], head.root);
    updates.restore([candidate(orphan, 10)]);
    expect(await updates.range(0, Number.MAX_SAFE_INTEGER, 128)).toEqual([]);
    expect(await updates.range(0, 2 ** 64, 128)).toEqual([]);
    expect(state.reads).toBeLessThan(5);
  });

  it("keeps the best update of every branch across reorgs", async () => {
    const left = { slot: 1, root: "left", parent: GENESIS.root };
    const right = { slot: 2, root: "right", parent: GENESIS.root };
    const { updates, state } = open([GENESIS, left, right], left.root);
    await updates.offerSummary(left, summary(20));
    await updates.offerSummary(right, summary(10));
    expect(updates.capture().map(({ root }) => root)).toEqual(["left", "right"]);

    updates.restore([candidate(left, 20), candidate(right, 10)]);
    expect(await updates.range(0, 1, 128)).toMatchObject([{ signatureSlot: left.slot }]);
    state.head = right.root;
    expect(await updates.range(0, 1, 128)).toMatchObject([{ signatureSlot: right.slot }]);
  });

  it("drops an update that is worse than an earlier one on the branch", async () => {
    const first = { slot: 1, root: "first", parent: GENESIS.root };
    const second = { slot: 2, root: "second", parent: first.root };
    const { updates } = open([GENESIS, first, second], second.root);
    await updates.offerSummary(first, summary(20));
    await updates.offerSummary(second, summary(10));
    expect(updates.capture().map(({ root }) => root)).toEqual(["first"]);
  });

  it("stops at the first period without an update", async () => {
    const slots = [1, PERIOD_SLOTS + 1, 3 * PERIOD_SLOTS + 1];
    const blocks = slots.map((slot, index) => ({
      slot,
      root: `${slot}`,
      parent: index ? `${slots[index - 1]}` : "genesis",
    }));
    const { updates } = open([GENESIS, ...blocks], blocks[2]!.root);
    updates.restore(blocks.map((block) => candidate(block, 10)));
    expect(await updates.range(0, 100, 128)).toMatchObject([{ signatureSlot: 1 }, { signatureSlot: PERIOD_SLOTS + 1 }]);
    expect(await updates.range(2, 100, 128)).toMatchObject([{ signatureSlot: 3 * PERIOD_SLOTS + 1 }]);
    expect(await updates.range(0, 100, 1)).toHaveLength(1);
  });

  describe("with a database", () => {
    const [genesis, first, second, orphan] = [0, 1, 2, 3].map((n) => toRootHex(new Uint8Array(32).fill(n))) as [
      RootHex,
      RootHex,
      RootHex,
      RootHex,
    ];
    const blocks: TestBlock[] = [
      { slot: 0, root: genesis },
      { slot: 1, root: first, parent: genesis },
      { slot: 2, root: second, parent: first },
      { slot: 1, root: orphan, parent: genesis },
    ];

    /** A complete update for a block, signed by some members. */
    const signedBy = (participants: number, block: TestBlock): Candidate => {
      const update = ssz.altair.LightClientUpdate.defaultValue();
      const bits = Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, seat) => seat < participants);
      update.syncAggregate.syncCommitteeBits = BitArray.fromBoolArray(bits);
      update.signatureSlot = block.slot;
      update.nextSyncCommitteeBranch[0] = new Uint8Array(32).fill(1);
      return { ...candidate(block, participants), summary: toLightClientUpdateSummary(update), update };
    };
    const participantsOf = (updates: readonly LightClientUpdate[]) =>
      updates.map(({ syncAggregate }) => syncAggregate.syncCommitteeBits.getTrueBitIndexes().length);

    it("stores the best finalized update, and drops candidates that can no longer be finalized", async () => {
      const db = await openEmptyDatabase();
      const { updates, state } = open(blocks, second, db);
      updates.restore([signedBy(10, blocks[1]!), signedBy(20, blocks[3]!), signedBy(15, blocks[2]!)]);
      await updates.settle();
      expect(updates.capture()).toHaveLength(3);
      expect(await db.lightClient.get(0)).toBeNull();

      state.finalized = first;
      await updates.settle();
      expect(updates.capture().map(({ root }) => root)).toEqual([second]);
      expect((await db.lightClient.get(0))?.blockRoot).toBe(first);

      state.finalized = second;
      await updates.settle();
      expect(updates.capture()).toEqual([]);
      expect((await db.lightClient.get(0))?.blockRoot).toBe(second);
    });

    it("keeps a stored update that is better than a later one", async () => {
      const db = await openEmptyDatabase();
      const { updates, state } = open(blocks, second, db);
      updates.restore([signedBy(20, blocks[1]!), signedBy(10, blocks[2]!)]);
      state.finalized = second;
      await updates.settle();
      expect((await db.lightClient.get(0))?.blockRoot).toBe(first);
      await updates.offerSummary(blocks[2]!, signedBy(19, blocks[2]!).summary);
      expect(updates.capture()).toEqual([]);
    });

    it("reads stored updates after a restart, but none of an orphaned block", async () => {
      const db = await openEmptyDatabase();
      const before = open(blocks, second, db);
      before.updates.restore([signedBy(20, blocks[1]!)]);
      before.state.finalized = first;
      await before.updates.settle();
      const { updates, state } = open(blocks, second, db);
      expect(participantsOf(await updates.range(0, 1, 128))).toEqual([20]);
      state.head = orphan;
      expect(await updates.range(0, 1, 128)).toEqual([]);
    });

    it("serves what is stored after a revert of the database", async () => {
      const db = await openEmptyDatabase();
      const { updates, state } = open(blocks, second, db);
      updates.restore([signedBy(10, blocks[1]!)]);
      state.finalized = first;
      await updates.settle();
      const candidates = updates.capture();
      const stored = (await db.lightClient.get(0))!;
      updates.restore([signedBy(20, blocks[2]!)]);
      state.finalized = second;
      await updates.settle();
      expect(participantsOf(await updates.range(0, 1, 128))).toEqual([20]);

      await db.lightClient.put(0, stored, 0);
      state.finalized = first;
      state.head = first;
      updates.restore(candidates);
      expect(participantsOf(await updates.range(0, 1, 128))).toEqual([10]);
      // The block is finalized again.
      updates.restore([signedBy(20, blocks[2]!)]);
      state.head = second;
      state.finalized = second;
      await updates.settle();
      expect((await db.lightClient.get(0))?.blockRoot).toBe(second);
    });

    it("prefers a better unfinalized update of the canonical chain to the stored one", async () => {
      const db = await openEmptyDatabase();
      const { updates, state } = open(blocks, second, db);
      updates.restore([signedBy(10, blocks[1]!)]);
      state.finalized = first;
      await updates.settle();
      await updates.offerSummary(blocks[2]!, signedBy(11, blocks[2]!).summary);
      updates.restore([...updates.capture().map(() => signedBy(11, blocks[2]!))]);
      expect(participantsOf(await updates.range(0, 1, 128))).toEqual([11]);
    });

    it("ignores updates signed in another period than their block", async () => {
      const { updates } = open(blocks, second);
      await updates.offerSummary(blocks[1]!, { ...summary(30), isSyncCommitteeUpdate: false });
      expect(updates.capture()).toEqual([]);
    });
  });
});
