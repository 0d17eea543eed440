import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { LightClientUpdateSummary } from "@lodestar/state-transition/light-client";
import type { LightClientUpdate, RootHex } from "@lodestar/types";
import { describe, expect, it } from "vitest";
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

/** A chain of block headers with an empty database. */
function open(blocks: readonly TestBlock[], head: RootHex) {
  const byRoot = new Map(blocks.map((block) => [block.root, block]));
  const ancestors = (root: RootHex | undefined): RootHex[] =>
    root === undefined ? [] : [root, ...ancestors(byRoot.get(root)?.parent)];
  const state = { head, reads: 0 };
  const updates = new BestUpdates({
    config: createBeaconConfig({ ...chainConfig, ALTAIR_FORK_EPOCH: 0 }, new Uint8Array(32)),
    db: {
      lightClient: {
        firstPeriodFrom: async () => null,
        get: async () => {
          state.reads++;
          return null;
        },
      },
    } as unknown as BeaconDb,
    forkChoice: {
      finalized: { root: blocks[0]!.root },
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
});
