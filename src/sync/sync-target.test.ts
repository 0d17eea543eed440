import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { SyncPeer } from "../network/peers/sync-peers.ts";
import { type ChainPosition, selectTarget } from "./sync-target.ts";

const root = (mark: number) => new Uint8Array(32).fill(mark);
const hex = (mark: number) => toRootHex(root(mark));

/** Returns peers `a`, `b`, … that each claim a finalized epoch and a head slot, with one byte to fill each root. */
function peersOf(...claims: { final?: [number, number]; head?: [number, number] }[]): SyncPeer[] {
  return claims.map(({ final = [0, 0], head = [0, 0] }, index) => ({
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

const position = (change: Partial<ChainPosition> = {}): ChainPosition => ({
  headSlot: 10,
  finalizedEpoch: 0,
  currentSlot: 100,
  slotsPerEpoch: 8,
  has: () => false,
  isInBackoff: () => false,
  ...change,
});

describe("selectTarget", () => {
  it("prefers the finalized checkpoint of most peers to a later one and to any head", () => {
    const peers = peersOf(
      { final: [5, 1], head: [60, 11] },
      { final: [5, 1], head: [60, 11] },
      { final: [6, 2], head: [60, 11] },
      { final: [4, 3], head: [60, 11] },
    );
    // Peers that have finalized more have these blocks. Peers that have finalized less may not.
    const claimants = new Set(["a", "b", "c"]);
    expect(selectTarget(peers, position())).toEqual({ kind: "finalized", slot: 40, root: hex(1), claimants });
  });

  it("selects the head of most peers if their finalized checkpoint is known", () => {
    const peers = peersOf({ final: [1, 1], head: [60, 2] }, { final: [1, 1], head: [50, 3] }, { head: [50, 3] });
    const target = selectTarget(peers, position({ has: (of) => of === hex(1) }));
    expect(target).toEqual({ kind: "head", slot: 50, root: hex(3), claimants: new Set(["b", "c"]) });
  });

  it("skips known, near, future and undelivered targets", () => {
    const peers = peersOf(
      { head: [11, 1] },
      { head: [60, 2] },
      { head: [101, 3] },
      { final: [99, 4] },
      { head: [61, 5] },
    );
    const without = position({ has: (of) => of === hex(2), isInBackoff: (of) => of === hex(5) });
    expect(selectTarget(peers, without)).toBeNull();
    expect(selectTarget(peers, position({ ...without, isInBackoff: () => false }))?.root).toBe(hex(5));
  });
});
