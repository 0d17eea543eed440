import { expect, it } from "vitest";
import type { BeaconChain } from "../../chain/chain.ts";
import { DevSnapshots } from "./snapshots.ts";
import type { DevTime } from "./time.ts";

/** Creates snapshots that cover a number and a chain that records its reverts. */
function scene() {
  const state = { value: 0, taken: 0, fails: false };
  const reverted: unknown[] = [];
  const chainSnapshots = {
    take: async () => {
      if (state.fails) throw new Error("The disk is full.");
      return ++state.taken;
    },
    revertTo: async (snapshot: unknown, others: () => void) => {
      if (state.fails) throw new Error("The disk is full.");
      reverted.push(snapshot);
      calls.push("revert the chain");
      others();
    },
  };
  const capture = () => {
    const { value } = state;
    return () => {
      state.value = value;
    };
  };
  const calls: string[] = [];
  const lost = new Set<number>();
  const evm = {
    flush: async () => void calls.push("flush"),
    capture: async (id: number) => void calls.push(`capture ${id}`),
    revert: async (id: number) => {
      calls.push(`revert ${id}`);
      return !lost.has(id);
    },
    release: async (ids: readonly number[]) => void calls.push(`release ${ids}`),
    restore: async () => void calls.push("restore"),
  };
  const snapshots = new DevSnapshots({
    chain: { chainSnapshots, clock: { currentSlot: 7 }, head: { root: "0xab" } } as unknown as BeaconChain,
    time: { whilePaused: (work: () => Promise<unknown>) => work() } as unknown as DevTime,
    revertible: [{ capture }],
    evm,
  });
  return { snapshots, state, reverted, calls, lost };
}

it("restores the chain and all other state", async () => {
  const { snapshots, state, reverted } = scene();
  state.value = 5;
  expect(await snapshots.take()).toBe(1);
  state.value = 6;
  await snapshots.revert(1);
  expect([state.value, reverted]).toEqual([5, [1]]);
});

const CONSUMED = ": a revert consumes its snapshot and all later ones.";

it("a revert deletes the snapshot and all later ones, whose ids are not used again", async () => {
  const { snapshots } = scene();
  for (const id of [1, 2, 3]) expect(await snapshots.take()).toBe(id);
  await snapshots.revert(2);
  await expect(snapshots.revert(2)).rejects.toThrow(`No snapshot 0x2${CONSUMED} Available: 0x1.`);
  await expect(snapshots.revert(3)).rejects.toThrow(`No snapshot 0x3${CONSUMED} Available: 0x1.`);
  expect(await snapshots.take()).toBe(4);
  expect(snapshots.list()).toEqual([
    { id: 1, slot: 7, headRoot: "0xab" },
    { id: 4, slot: 7, headRoot: "0xab" },
  ]);
  await snapshots.revert(1);
  expect(snapshots.list()).toEqual([]);
  await expect(snapshots.revert(4)).rejects.toThrow(`No snapshot 0x4${CONSUMED} None is left: dev_snapshot takes one.`);
});

it("a snapshot can be reverted to after a failed attempt", async () => {
  const { snapshots, state } = scene();
  await snapshots.take();
  state.value = 9;
  state.fails = true;
  await expect(snapshots.revert(1)).rejects.toThrow("The disk is full.");
  expect(state.value).toBe(9);
  state.fails = false;
  await snapshots.revert(1);
  expect(state.value).toBe(0);
});

it("a failed snapshot takes no id", async () => {
  const { snapshots, state } = scene();
  state.fails = true;
  await expect(snapshots.take()).rejects.toThrow("The disk is full.");
  await expect(snapshots.revert(1)).rejects.toThrow("No snapshot 0x1. None has been taken: dev_snapshot takes one.");
  state.fails = false;
  expect(await snapshots.take()).toBe(1);
});

it("an error lists up to eight ids, and the range of more", async () => {
  const { snapshots } = scene();
  for (let count = 0; count < 8; count++) await snapshots.take();
  await expect(snapshots.revert(0xff)).rejects.toThrow(
    "No snapshot 0xff. Available: 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8.",
  );
  for (let count = 0; count < 3; count++) await snapshots.take();
  await expect(snapshots.revert(0xff)).rejects.toThrow("No snapshot 0xff. There are 11, from 0x1 to 0xb.");
});

it("the EVM reverts too, and drops the snapshots", async () => {
  const { snapshots, calls, lost } = scene();
  for (let count = 0; count < 3; count++) await snapshots.take();
  await snapshots.revert(2);
  expect(calls.splice(0)).toEqual([
    "capture 1",
    "capture 2",
    "capture 3",
    "flush",
    "revert the chain",
    "revert 2",
    "release 2,3",
  ]);
  lost.add(1);
  await snapshots.revert(1);
  expect(calls).toEqual(["flush", "revert the chain", "revert 1", "restore", "release 1"]);
});
