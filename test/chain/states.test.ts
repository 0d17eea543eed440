import { SLOTS_PER_EPOCH, SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterEach, expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { advance, openDevChain, openQuietDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { collect } from "../support/db/collect.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const INTERVAL_EPOCHS = 4;
/** Two of sixteen validators are offline, so their slots stay empty. */
const WITH_EMPTY_SLOTS: Partial<DevNodeOptions> = {
  activeValidators: Array.from({ length: 14 }, (_, index) => index),
  chainTuning: { snapshotIntervalEpochs: INTERVAL_EPOCHS },
};

afterEach(() => {
  vi.restoreAllMocks();
});

const rootOf = (state: { hashTreeRoot(): Uint8Array } | null): RootHex | null =>
  state && toRootHex(state.hashTreeRoot());

/** Records the root of every state of the chain, from the states' own history. */
function noteStateRoots(chain: BeaconChain): Map<Slot, RootHex> {
  const roots = new Map<Slot, RootHex>();
  chain.events.on("head", ({ slot, stateRoot }) => {
    const { stateRoots } = chain.headState;
    for (let past = roots.size; past < slot; past++) {
      roots.set(past, toRootHex(stateRoots.get(past % SLOTS_PER_HISTORICAL_ROOT)));
    }
    roots.set(slot, stateRoot);
  });
  return roots;
}

async function expectStatesAsNoted({ chain }: DevChain, noted: Map<Slot, RootHex>, slots: Iterable<Slot>) {
  for (const slot of slots) {
    const expected = noted.get(slot)!;
    const bySlot = await chain.states.canonicalAtSlot(slot);
    expect(bySlot?.slot).toBe(slot);
    expect(rootOf(bySlot)).toBe(expected);
    const byRoot = await chain.states.byRoot(expected);
    expect(byRoot?.slot).toBe(slot);
    expect(rootOf(byRoot)).toBe(expected);
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (block) expect(toRootHex(block.signed.message.stateRoot)).toBe(expected);
  }
}

/** For a chain without cached old states. */
async function expectRootsAsNoted(
  { chain, api }: DevChain,
  db: BeaconDb,
  noted: Map<Slot, RootHex>,
  emptySlots: readonly Slot[],
) {
  const caller = new Caller(api);
  const expectRoot = async (slot: Slot) => {
    const root = await caller.call("get_v1_beacon_states_stateId_root", [String(slot)]);
    expect(root).toEqual({ root: noted.get(slot) });
  };
  const loads = vi.spyOn(db.snapshots, "get");
  const remembered = chain.head.slot - SLOTS_PER_HISTORICAL_ROOT;
  const isKnown = (slot: Slot) => slot >= remembered || !emptySlots.includes(slot);
  const known = [...noted.keys()].filter(isKnown);
  expect(emptySlots.filter(isKnown).length).toBeGreaterThan(0);
  for (const slot of known) await expectRoot(slot);
  expect(loads).not.toHaveBeenCalled();
  // Values derived from the state agree.
  for (const slot of [0, ...emptySlots, chain.head.slot - 1, chain.head.slot].map(String)) {
    const ofRoot = await caller.meta("get_v1_beacon_states_stateId_root", [slot]);
    expect(ofRoot).toEqual(await caller.meta("get_v1_beacon_states_stateId_fork", [slot]));
  }
  for (const slot of emptySlots) await expectRoot(slot);
}

it("every state of a long history is found by slot and by root", async () => {
  const directory = tempDirectory();
  const first = await openDevChain(WITH_EMPTY_SLOTS, directory);
  const noted = noteStateRoots(first.devChain.chain);
  await advance(first.devChain, 13 * SLOTS_PER_EPOCH);
  const head = first.devChain.chain.head.slot;
  const finalizedEpoch = first.devChain.chain.forkChoice.finalized.epoch;
  const emptySlots = [];
  for (let slot = 1; slot <= head; slot++) {
    if (!(await first.devChain.chain.blocks.canonicalAtSlot(slot))) emptySlots.push(slot);
  }
  expect(emptySlots.length).toBeGreaterThan(0);
  expect(finalizedEpoch).toBeGreaterThan(2 * INTERVAL_EPOCHS);
  await expectStatesAsNoted(first.devChain, noted, noted.keys());
  await first.close();

  // Nothing is cached now: all states come from stored states and blocks.
  const { devChain, db, complaints } = await openDevChain({ ...WITH_EMPTY_SLOTS, ...QUIET }, directory);
  await expectRootsAsNoted(devChain, db, noted, emptySlots);
  const sample = [...noted.keys()].filter((slot) => slot % 5 === 0);
  await expectStatesAsNoted(devChain, noted, new Set([...sample, ...emptySlots, head]));
  expect(complaints).toEqual([]);
});

it("the first state and the last of every interval of finalized history stay stored", async () => {
  const { devChain, db } = await openDevChain({ chainTuning: { snapshotIntervalEpochs: INTERVAL_EPOCHS } });
  const { chain } = devChain;
  await advance(devChain, 12 * SLOTS_PER_EPOCH);

  expect(chain.forkChoice.finalized.epoch).toBe(10);
  await chain.store();
  const stored = (await collect(db.snapshots.keys())).map(({ slot }) => slot / SLOTS_PER_EPOCH);
  expect(stored).toEqual([0, 3, 7, 10]);
});

it("genesis and the empty slots after it are found when the genesis block is finalized at a later epoch", async () => {
  const directory = tempDirectory();
  const beginning = await openDevChain(QUIET, directory);
  const genesis = beginning.devChain.chain.head.root;
  await beginning.devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH);
  await beginning.close();

  const noted = new Map<Slot, RootHex>();
  for (const finalizedEpoch of [2, 3]) {
    const { devChain, db, close } = await openDevChain({}, directory);
    const roots = noteStateRoots(devChain.chain);
    await advance(devChain, (finalizedEpoch + 2) * SLOTS_PER_EPOCH);
    for (const [slot, root] of roots) noted.set(slot, root);
    const { finalized } = devChain.chain.forkChoice;
    expect(finalized.epoch).toBe(finalizedEpoch);
    if (finalizedEpoch === 2) expect(finalized.root).toBe(genesis);
    const [oldest] = await collect(db.snapshots.keys());
    expect(oldest).toEqual({ slot: 0, blockRoot: genesis });
    expect(await devChain.chain.blocks.genesis()).toMatchObject({ root: genesis, finalized: true });
    await expectStatesAsNoted(devChain, noted, noted.keys());
    await close();

    const reopened = await openDevChain(QUIET, directory);
    expect((await reopened.devChain.chain.states.genesis())?.slot).toBe(0);
    await expectStatesAsNoted(reopened.devChain, noted, noted.keys());
    await reopened.close();
  }
});

it("a state is regenerated once for concurrent callers", async () => {
  const { devChain, db } = await openQuietDevChain(4 * SLOTS_PER_EPOCH);
  const { states } = devChain.chain;
  const loads = vi.spyOn(db.snapshots, "get");
  const slot = SLOTS_PER_EPOCH + 3;

  const callers = await Promise.all(Array.from({ length: 8 }, () => states.canonicalAtSlot(slot)));

  expect(loads).toHaveBeenCalledTimes(1);
  expect(callers[0]!.slot).toBe(slot);
  for (const state of callers) expect(state).toBe(callers[0]);
});

it("a state is not regenerated after all callers have aborted", async () => {
  const { devChain, db } = await openQuietDevChain(4 * SLOTS_PER_EPOCH);
  const { states } = devChain.chain;
  const loads = vi.spyOn(db.snapshots, "get");
  const slot = SLOTS_PER_EPOCH + 3;
  const waiting = { signal: AbortSignal.abort(new Error("left")) };

  await expect(states.canonicalAtSlot(slot, { waiting })).rejects.toThrow("left");

  expect(loads).not.toHaveBeenCalled();
  expect((await states.canonicalAtSlot(slot))!.slot).toBe(slot);
});

it("a failed regeneration rejects its callers, and the next call retries", async () => {
  const { devChain, db } = await openQuietDevChain(4 * SLOTS_PER_EPOCH);
  const { states } = devChain.chain;
  const loads = vi.spyOn(db.snapshots, "get").mockRejectedValueOnce(new Error("The disk is on fire."));
  const slot = SLOTS_PER_EPOCH + 3;

  const outcomes = await Promise.allSettled([states.canonicalAtSlot(slot), states.canonicalAtSlot(slot)]);

  expect(outcomes).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  expect(loads).toHaveBeenCalledTimes(1);
  expect((await states.canonicalAtSlot(slot))!.slot).toBe(slot);
});

it("requested states are cached up to the limit", async () => {
  const stateLimits = { blockStates: 4, advancedStates: 4, historicalStates: 2, replayedStates: 1 };
  const { devChain, complaints } = await openQuietDevChain(4 * SLOTS_PER_EPOCH, { chainTuning: { stateLimits } });
  const { states } = devChain.chain;

  const fifth = await states.canonicalAtSlot(5);
  const fourth = await states.canonicalAtSlot(4);
  expect((await states.canonicalAtSlot(5)) === fifth).toBe(true);
  // Replaces the state of slot 4, which is the least recently used.
  await states.canonicalAtSlot(3);
  expect((await states.canonicalAtSlot(5)) === fifth).toBe(true);
  const again = await states.canonicalAtSlot(4);
  expect(again === fourth).toBe(false);
  expect(rootOf(again)).toBe(rootOf(fourth));
  expect(complaints).toEqual([]);
});

it("sequential reads of old states, in either direction, with or without blocks, replay each block once", async () => {
  const { devChain } = await openQuietDevChain(4 * SLOTS_PER_EPOCH);
  const { states, blocks, forkChoice } = devChain.chain;
  const last = forkChoice.finalized.epoch * SLOTS_PER_EPOCH - 1;
  const upward = Array.from({ length: last }, (_, index) => index + 1);
  const before = async (slot: Slot) => {
    const block = await blocks.canonicalAtSlot(slot);
    return states.afterBlock(toRootHex(block!.signed.message.parentRoot), slot);
  };
  const replayed = vi.spyOn(blocks, "signedByRoot");
  const replaysOf = async (slots: readonly Slot[], look: (slot: Slot) => Promise<unknown>) => {
    replayed.mockClear();
    for (const slot of slots) await look(slot);
    return replayed.mock.calls.length;
  };
  expect(await replaysOf(upward.toReversed(), (slot) => states.canonicalAtSlot(slot))).toBe(last);
  expect(await replaysOf(upward, (slot) => states.canonicalAtSlot(slot))).toBeLessThanOrEqual(last);
  // Each read also reads the block itself once.
  expect(await replaysOf(upward, before)).toBeLessThanOrEqual(2 * last);
});

/** A chain of four blocks with the states of the last two cached. */
async function openWithTwoStates() {
  const stateLimits = { blockStates: 2, advancedStates: 2, historicalStates: 2, replayedStates: 1 };
  const { devChain } = await openDevChain({ ...QUIET, chainTuning: { stateLimits } });
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const blocks = [];
  for (let slot = 1; slot <= 4; slot++) {
    await clock.advanceTo(slot);
    blocks.push(await byHand.propose(slot, chain.head.root));
  }
  return { states: chain.states, oldest: blocks[0]!, newest: blocks.slice(2), head: chain.head.root };
}

it("a state for one-time use evicts no cached state", async () => {
  const { states, oldest, newest } = await openWithTwoStates();

  const state = await states.afterBlock(oldest.root, undefined, { keep: false });

  expect(rootOf(state)).toBe(toRootHex(oldest.signed.message.stateRoot));
  expect(states.cached(oldest.root)).toBeUndefined();
  for (const { root, signed } of newest) {
    expect(rootOf(states.cached(root) ?? null)).toBe(toRootHex(signed.message.stateRoot));
  }
});

it("a state is near if it is cached or one epoch transition away from a cached one", async () => {
  const { states, oldest, head } = await openWithTwoStates();
  expect(states.isNear(oldest.root, SLOTS_PER_EPOCH)).toBe(false);
  expect(states.isNear(head, 2 * SLOTS_PER_EPOCH - 1)).toBe(true);
  expect(states.isNear(head, 2 * SLOTS_PER_EPOCH)).toBe(false);
  await states.afterBlock(head, 2 * SLOTS_PER_EPOCH);
  expect(states.isNear(head, 2 * SLOTS_PER_EPOCH)).toBe(true);
});

it("a chain with a minimal state cache still finalizes", async () => {
  const stateLimits = { blockStates: 1, advancedStates: 1, historicalStates: 1, replayedStates: 1 };
  const { devChain, complaints } = await openDevChain({ chainTuning: { stateLimits } });

  await devChain.clock.advanceTo(4 * SLOTS_PER_EPOCH);

  expect(complaints).toEqual([]);
  expect(devChain.chain.forkChoice.finalized.epoch).toBe(2);
});

it("states of a side branch are found by root, and slots between the head and the clock have states", async () => {
  const { devChain } = await openQuietDevChain(SLOTS_PER_EPOCH);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const parent = chain.head;
  await clock.advanceTo(parent.slot + 3);
  const canonical = await byHand.propose(parent.slot + 3, parent.root, 1);
  const side = await byHand.propose(parent.slot + 3, parent.root, 2);
  expect(chain.head.root).toBe(canonical.root);

  const sideRoot = toRootHex(side.signed.message.stateRoot);
  expect(rootOf(await chain.states.byRoot(sideRoot))).toBe(sideRoot);
  expect(rootOf(await chain.states.canonicalAtSlot(parent.slot + 3))).not.toBe(sideRoot);

  await clock.advanceTo(parent.slot + 5);
  const ahead = await chain.states.canonicalAtSlot(parent.slot + 5);
  expect(ahead!.slot).toBe(parent.slot + 5);
  expect(ahead!.latestBlockHeader.slot).toBe(parent.slot + 3);
  expect(await chain.states.byRoot(rootOf(ahead)!)).toBe(ahead);
  expect(await chain.states.byRoot(`0x${"ee".repeat(32)}`)).toBeNull();
});
