import { BitArray } from "@chainsafe/ssz";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { type LightClientFinalityUpdate, type RootHex, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { StateStore } from "../states/state-store.ts";
import { LightClientServer } from "./light-client-server.ts";

const ZERO_ROOT = toRootHex(new Uint8Array(32));
const PERIOD_SLOTS = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;
const EMPTY_BRANCH = ssz.altair.LightClientFinalityUpdate.defaultValue().finalityBranch;

interface BlockOptions {
  parent?: RootHex;
  /** Root that the block's state finalizes. */
  finalized?: RootHex;
  /** Number of sync committee positions signing the parent. */
  signers?: number;
  /** Slot of the block's state; defaults to the block's slot. */
  stateSlot?: number;
}

/** A light client server on an Altair chain with minimal blocks and states. */
function scene({ hasListeners = true } = {}) {
  const logger = createRecordingLogger();
  const events = new ChainEvents(logger);
  const announced: string[] = [];
  const finalityUpdates: LightClientFinalityUpdate[] = [];
  const listen = () => {
    events.on("lightClientOptimisticUpdate", ({ attestedHeader }) =>
      announced.push(`optimistic ${attestedHeader.beacon.slot}`),
    );
    events.on("lightClientFinalityUpdate", (update) => {
      announced.push(`finality ${update.attestedHeader.beacon.slot}`);
      finalityUpdates.push(update);
    });
  };
  if (hasListeners) listen();
  const blocks = new Map<RootHex, { block: ForkChoiceBlock; signed: unknown; state: unknown }>();
  let head: RootHex = ZERO_ROOT;
  /** Slots of the blocks whose states were read. */
  const statesRead: number[] = [];

  const add = (
    slot: number,
    { parent = ZERO_ROOT, finalized = ZERO_ROOT, signers = SYNC_COMMITTEE_SIZE, stateSlot = slot }: BlockOptions,
  ) => {
    const signed = ssz.altair.SignedBeaconBlock.defaultValue();
    const bits = Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, seat) => seat < signers);
    signed.message.slot = slot;
    signed.message.parentRoot = fromHex(parent);
    signed.message.body.syncAggregate.syncCommitteeBits = BitArray.fromBoolArray(bits);
    const state = ssz.altair.BeaconState.defaultViewDU();
    state.slot = stateSlot;
    state.finalizedCheckpoint = ssz.phase0.Checkpoint.toViewDU({ epoch: 0, root: fromHex(finalized) });
    const root = toRootHex(ssz.altair.BeaconBlock.hashTreeRoot(signed.message));
    const block = { slot, root, parentRoot: parent, finalized: { epoch: 0, root: finalized } } as ForkChoiceBlock;
    blocks.set(root, { block, signed, state });
    return root;
  };
  const ancestors = (root: RootHex): RootHex[] => {
    const known = blocks.get(root);
    return known ? [root, ...ancestors(known.block.parentRoot)] : [];
  };
  const server = new LightClientServer({
    config: createBeaconConfig({ ...chainConfig, ALTAIR_FORK_EPOCH: 0 }, new Uint8Array(32)),
    db: { lightClient: { get: async () => null, firstPeriodFrom: async () => null } } as unknown as BeaconDb,
    forkChoice: {
      finalized: { epoch: 0, root: ZERO_ROOT },
      get: (root: RootHex) => blocks.get(root)?.block,
      has: (root: RootHex) => blocks.has(root),
      isDescendant: (ancestor: RootHex, root: RootHex) => ancestors(root).includes(ancestor),
    } as unknown as ForkChoice,
    blocks: {
      signedByRoot: async (root: RootHex) => blocks.get(root)?.signed ?? null,
      isCanonical: async (root: RootHex) => ancestors(head).includes(root),
      link: async (root: RootHex) => blocks.get(root)?.block ?? null,
    } as unknown as BlockStore,
    states: {
      afterBlock: async (root: RootHex) => {
        const known = blocks.get(root);
        if (known) statesRead.push(known.block.slot);
        return known?.state;
      },
    } as unknown as StateStore,
    events,
    logger,
  });
  const follow = async (root: RootHex) => {
    head = root;
    await server.follow(blocks.get(root)!.block);
  };
  return { server, add, follow, listen, announced, finalityUpdates, statesRead, logger };
}

it("publishes a signed block, but no finality update for the zero root", async () => {
  const { server, add, follow, announced } = scene();
  const genesis = add(0, {});
  const first = add(1, { parent: genesis });
  const second = add(2, { parent: first });
  await follow(second);
  expect(announced).toEqual(["optimistic 0", "optimistic 1"]);
  expect(await server.finalityUpdate()).toBeNull();
  expect((await server.optimisticUpdate())?.attestedHeader.beacon.slot).toBe(1);
});

it("proves the zero root for the best update of the period", async () => {
  const { server, add, follow } = scene();
  const first = add(1, { parent: add(0, {}) });
  await follow(add(2, { parent: first }));
  const [update] = await server.updates(0, 1);
  expect(update?.finalizedHeader).toEqual(ssz.altair.LightClientHeader.defaultValue());
  expect(update?.finalityBranch).toHaveLength(EMPTY_BRANCH.length);
  expect(update?.finalityBranch).not.toEqual(EMPTY_BRANCH);
});

it("publishes no finality update for a checkpoint with the genesis root", async () => {
  const { server, add, follow, announced } = scene();
  const genesis = add(0, {});
  const first = add(1, { parent: genesis, finalized: genesis, signers: 0 });
  await follow(add(2, { parent: first, finalized: genesis }));
  expect(announced).toEqual(["optimistic 1"]);
  expect(await server.finalityUpdate()).toBeNull();
  const [update] = await server.updates(0, 1);
  expect(update?.finalizedHeader.beacon.slot).toBe(0);
  expect(update?.finalityBranch).toEqual(EMPTY_BRANCH);
});

it("publishes finality from the first block whose parent's state finalizes", async () => {
  const { server, add, follow, announced, finalityUpdates } = scene();
  const first = add(1, { parent: add(0, {}) });
  const second = add(2, { parent: first, finalized: first });
  const third = add(3, { parent: second, finalized: first });
  await follow(third);
  expect(announced).toEqual(["optimistic 0", "optimistic 1", "optimistic 2", "finality 2"]);
  expect(finalityUpdates[0]?.finalizedHeader.beacon.slot).toBe(1);
  expect(finalityUpdates[0]?.finalityBranch).not.toEqual(EMPTY_BRANCH);
  expect(await server.finalityUpdate()).toBe(finalityUpdates[0]);
});

it("without listeners, derives an update only when it is read", async () => {
  const { server, add, follow, listen, announced, statesRead } = scene({ hasListeners: false });
  const first = add(1, { parent: add(0, {}) });
  const second = add(2, { parent: first, finalized: first });
  // The first update of the period is the best so far, and so is the first that proves finality.
  await follow(second);
  await follow(add(3, { parent: second, finalized: first }));
  statesRead.length = 0;
  let head = second;
  for (const slot of [4, 5, 6, 7]) {
    head = add(slot, { parent: head, finalized: first });
    await follow(head);
  }
  expect(statesRead).toEqual([]);
  const finality = await server.finalityUpdate();
  expect(finality?.attestedHeader.beacon.slot).toBe(6);
  expect(finality?.finalizedHeader.beacon.slot).toBe(1);
  expect((await server.optimisticUpdate())?.attestedHeader.beacon.slot).toBe(6);
  expect(statesRead).toEqual([6]);
  listen();
  await follow(add(8, { parent: head, finalized: first }));
  expect(announced).toEqual(["optimistic 7", "finality 7"]);
});

it("publishes an update once, also if its block becomes head again", async () => {
  const { add, follow, announced } = scene();
  const first = add(1, { parent: add(0, {}) });
  const second = add(2, { parent: first, finalized: first });
  const head = add(3, { parent: second, finalized: first });
  await follow(head);
  const once = [...announced];
  expect(once).toHaveLength(4);
  await follow(head);
  await follow(add(4, { parent: second, signers: 0 }));
  await follow(head);
  expect(announced).toEqual(once);
});

it("publishes again after a reorg replaces the block", async () => {
  const { add, follow, announced } = scene();
  const first = add(1, { parent: add(0, {}) });
  await follow(add(2, { parent: first }));
  announced.length = 0;
  await follow(add(3, { parent: first }));
  expect(announced).toEqual(["optimistic 1"]);
});

it("a block without sync committee signatures provides no update", async () => {
  const { server, add, follow, announced } = scene();
  const first = add(1, { parent: add(0, {}), signers: 0 });
  await follow(first);
  expect(announced).toEqual([]);
  expect(await server.optimisticUpdate()).toBeNull();
  await follow(add(2, { parent: first, signers: 1 }));
  expect(announced).toEqual(["optimistic 1"]);
});

it("a restored server has the earlier updates and publishes new ones", async () => {
  const { server, add, follow, announced } = scene();
  const first = add(1, { parent: add(0, {}) });
  await follow(first);
  const snapshot = server.capture();
  const second = add(2, { parent: first, finalized: first });
  const third = add(3, { parent: second, finalized: first });
  await follow(third);
  expect(await server.finalityUpdate()).not.toBeNull();
  server.restore(snapshot);
  expect(await server.finalityUpdate()).toBeNull();
  announced.length = 0;
  await follow(third);
  expect(announced).toEqual(["optimistic 1", "optimistic 2", "finality 2"]);
});

it("reads the states of only the newest blocks, and none of earlier ones for their best update", async () => {
  const { server, add, follow, announced, statesRead } = scene();
  const slots = Array.from({ length: 36 }, (_, index) => index + 1);
  let parent = add(0, {});
  // The block at slot 2 has the most signers, and the block at slot 1 has none.
  for (const slot of slots) parent = add(slot, { parent, signers: slot === 1 ? 0 : slot === 2 ? 3 : 1 });
  await follow(parent);
  const newest = slots.slice(-32);
  expect(announced).toEqual(newest.map((slot) => `optimistic ${slot - 1}`));
  expect(statesRead).toEqual(newest.map((slot) => slot - 1));
  expect(await server.updates(0, 1)).toMatchObject([{ signatureSlot: 2 }]);
});

it("an update that crosses a period is no best update, also of a block without its state", async () => {
  const { server, add, follow } = scene();
  const attested = add(PERIOD_SLOTS - 1, { parent: add(0, {}), signers: 0 });
  let parent = add(PERIOD_SLOTS, { parent: attested });
  for (let n = 1; n <= 33; n++) parent = add(PERIOD_SLOTS + n, { parent, signers: 0 });
  await follow(parent);
  expect(await server.updates(0, 3)).toEqual([]);
  await follow(add(PERIOD_SLOTS + 34, { parent, signers: 1 }));
  expect(await server.updates(0, 3)).toMatchObject([{ signatureSlot: PERIOD_SLOTS + 34 }]);
});

it("an anchor state that is past its block, and so has another root, proves nothing", async () => {
  const { server, add, follow, announced } = scene();
  const anchor = add(1, { parent: add(0, {}), stateSlot: 3 });
  await follow(anchor);
  expect(await server.bootstrap(anchor)).toBeNull();
  announced.length = 0;
  const child = add(4, { parent: anchor });
  await follow(child);
  expect(announced).toEqual([]);
  expect(await server.bootstrap(child)).toMatchObject({ header: { beacon: { slot: 4 } } });
});

it("after a revert, a block that becomes the head again is announced again", async () => {
  const { server, add, follow, announced } = scene();
  const first = add(1, { parent: add(0, {}) });
  await follow(first);
  const snapshot = server.capture();
  const second = add(2, { parent: first });
  await follow(second);
  server.restore(snapshot);
  announced.length = 0;
  await follow(second);
  expect(announced).toEqual(["optimistic 1"]);
});
