import { describe, expect, it } from "vitest";
import { selectPeersToDial } from "./connector.ts";
import { type PrunablePeer, selectPeersToPrune } from "./peer-pruner.ts";
import type { SubnetName } from "./subnet-coverage.ts";

const NOTHING_WANTED: ReadonlySet<SubnetName> = new Set();

function peers(count: number, changes: (index: number) => Partial<PrunablePeer> = () => ({})): PrunablePeer[] {
  return Array.from({ length: count }, (_, index) => ({
    peerId: `peer ${index}`,
    isOutbound: false,
    isDirect: false,
    isRelevant: true,
    score: 0,
    subnets: [],
    since: index,
    ...changes(index),
  }));
}

describe("selectPeersToPrune", () => {
  it("tolerates a margin above the target, then prunes to the target", () => {
    const options = { target: 20, wanted: NOTHING_WANTED };
    expect(selectPeersToPrune(peers(22), options)).toEqual([]);
    expect(selectPeersToPrune(peers(23), options)).toHaveLength(3);
  });

  it("prunes the worst first, and the newest among equals", () => {
    const pruned = selectPeersToPrune(
      peers(14, (index) => ({ score: index === 4 ? -5 : 0, isRelevant: index !== 6 })),
      { target: 10, wanted: NOTHING_WANTED },
    );
    expect(pruned).toEqual(["peer 6", "peer 4", "peer 13", "peer 12"]);
  });

  it("never prunes direct peers", () => {
    const all = peers(14, (index) => ({ isDirect: index < 13, score: -15 }));
    expect(selectPeersToPrune(all, { target: 10, wanted: NOTHING_WANTED })).toEqual(["peer 13"]);
  });

  it("keeps the last peers of a wanted subnet and a share of outbound peers", () => {
    const wanted = new Set<SubnetName>(["attestation 3"]);
    const all = peers(30, (index) => ({
      // Both of these peers are the newest and would be pruned first.
      subnets: index >= 26 ? ["attestation 3", "sync 1"] : [],
      isOutbound: index >= 22 && index < 26,
    }));
    const left = new Set(all.map(({ peerId }) => peerId));
    for (const peerId of selectPeersToPrune(all, { target: 10, wanted })) left.delete(peerId);
    expect(left.size).toBe(10);
    for (const index of [26, 27, 28, 29]) expect(left).toContain(`peer ${index}`);
    expect(all.filter(({ peerId, isOutbound }) => isOutbound && left.has(peerId))).toHaveLength(3);
  });

  it("prunes to the limit even if all peers are needed", () => {
    const all = peers(20, () => ({ isOutbound: true, subnets: ["sync 0"] }));
    const pruned = selectPeersToPrune(all, { target: 10, wanted: new Set<SubnetName>(["sync 0"]) });
    expect(all.length - pruned.length).toBe(10);
    const lone = peers(20, (index) => ({ subnets: [`attestation ${index}`] }));
    const everything = new Set(lone.flatMap(({ subnets }) => subnets));
    expect(selectPeersToPrune(lone, { target: 10, wanted: everything })).toHaveLength(9);
  });
});

describe("selectPeersToDial", () => {
  const candidates = [
    { peerId: "old", score: 0, subnets: [], lastGoodAt: null },
    { peerId: "useful", score: -3, subnets: ["attestation 1" as const], lastGoodAt: null },
    { peerId: "bad", score: -9, subnets: [], lastGoodAt: null },
    { peerId: "new", score: 0, subnets: ["attestation 2" as const], lastGoodAt: null },
  ];
  const room = { present: 0, target: 10, maximum: 11, dials: 8, lacking: new Set<SubnetName>(["attestation 1"]) };

  it("prefers peers of lacking subnets, then the best, then the newest", () => {
    expect(selectPeersToDial(candidates, room)).toEqual(["useful", "new", "old", "bad"]);
    expect(selectPeersToDial(candidates, { ...room, lacking: NOTHING_WANTED })).toEqual([
      "new",
      "old",
      "useful",
      "bad",
    ]);
  });

  it("prefers the most recently good among equals", () => {
    const [old, ...others] = candidates;
    const former = { peerId: "former", score: 0, subnets: [], lastGoodAt: 1_000 };
    expect(selectPeersToDial([{ ...old!, lastGoodAt: 2_000 }, former, ...others], room)).toEqual([
      "useful",
      "old",
      "former",
      "new",
      "bad",
    ]);
  });

  it("respects the target, and exceeds it only for a lacking subnet", () => {
    expect(selectPeersToDial(candidates, { ...room, dials: 2 })).toEqual(["useful", "new"]);
    expect(selectPeersToDial(candidates, { ...room, present: 8 })).toEqual(["useful", "new"]);
    expect(selectPeersToDial(candidates, { ...room, present: 10 })).toEqual(["useful"]);
    expect(selectPeersToDial(candidates, { ...room, present: 11 })).toEqual([]);
  });
});
