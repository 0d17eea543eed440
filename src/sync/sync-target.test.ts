import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, test } from "vitest";
import type { SyncPeer } from "../network/peers/sync-peers.ts";
import { chooseTarget, type SyncStanding } from "./sync-target.ts";

const root = (mark: number) => new Uint8Array(32).fill(mark);
const hex = (mark: number) => toRootHex(root(mark));

/** Peers `a`, `b`, … that tell a finalized epoch and a head slot, each with the mark of its root. */
function peersOf(...told: { final?: [number, number]; head?: [number, number] }[]): SyncPeer[] {
  return told.map(({ final = [0, 0], head = [0, 0] }, index) => ({
    peerId: String.fromCharCode("a".charCodeAt(0) + index),
    status: {
      ...ssz.fulu.Status.defaultValue(),
      finalizedEpoch: final[0],
      finalizedRoot: root(final[1]),
      headSlot: head[0],
      headRoot: root(head[1]),
    },
    score: 0,
    columns: [],
  }));
}

const standing = (change: Partial<SyncStanding> = {}): SyncStanding => ({
  headSlot: 10,
  finalizedEpoch: 0,
  currentSlot: 100,
  slotsPerEpoch: 8,
  has: () => false,
  isDoubted: () => false,
  ...change,
});

describe("the target of syncing", () => {
  test("what most peers hold to be final comes before what is further, and before any head", () => {
    const peers = peersOf(
      { final: [5, 1], head: [60, 11] },
      { final: [5, 1], head: [60, 11] },
      { final: [6, 2], head: [60, 11] },
      { final: [4, 3], head: [60, 11] },
    );
    // The peer that finalized more can help; the one that finalized less need not have these blocks.
    const claimants = new Set(["a", "b", "c"]);
    expect(chooseTarget(peers, standing())).toEqual({ kind: "finalized", slot: 40, root: hex(1), claimants });
  });

  test("when the final blocks are ours, the head that most peers tell", () => {
    const peers = peersOf({ final: [1, 1], head: [60, 2] }, { final: [1, 1], head: [50, 3] }, { head: [50, 3] });
    const target = chooseTarget(peers, standing({ has: (of) => of === hex(1) }));
    expect(target).toEqual({ kind: "head", slot: 50, root: hex(3), claimants: new Set(["b", "c"]) });
  });

  test("nothing that is ours, that gossip brings, that is in the future, or that was sought in vain", () => {
    const peers = peersOf(
      { head: [11, 1] },
      { head: [60, 2] },
      { head: [101, 3] },
      { final: [99, 4] },
      { head: [61, 5] },
    );
    const without = standing({ has: (of) => of === hex(2), isDoubted: (of) => of === hex(5) });
    expect(chooseTarget(peers, without)).toBeNull();
    expect(chooseTarget(peers, standing({ ...without, isDoubted: () => false }))?.root).toBe(hex(5));
  });
});
