import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import {
  ForkName,
  SYNC_COMMITTEE_SIZE,
  SYNC_COMMITTEE_SUBNET_COUNT,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import { G2_POINT_AT_INFINITY } from "@lodestar/state-transition";
import { type altair, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { TestChain } from "../../../test/support/chain/pools/pool-chain.ts";
import { SyncCommitteePool } from "./sync-committee-pool.ts";

describe("SyncCommitteePool", () => {
  let chain: TestChain;
  let pool: SyncCommitteePool;
  // With few validators, some have several positions in the sync committee.
  beforeEach(() => {
    chain = new TestChain(ForkName.altair, { validators: 24 });
    chain.addBlock(1);
    pool = new SyncCommitteePool();
  });

  const memberAt = (position: number) => chain.head.epochCtx.currentSyncCommitteeIndexed.validatorIndices[position]!;
  const signatureAt = (position: number, slot = 1) => chain.signSyncMessage(slot, chain.headRoot, memberAt(position));
  const locate = (position: number) => ({
    subcommitteeIndex: Math.floor(position / SYNC_COMMITTEE_SUBNET_SIZE),
    indexInSubcommittee: position % SYNC_COMMITTEE_SUBNET_SIZE,
  });

  function addMessage(position: number, slot = 1) {
    const signature = signatureAt(position, slot);
    return pool.addMessage({ slot, beaconBlockRoot: toRootHex(chain.headRoot), ...locate(position), signature });
  }

  function contribution(subcommitteeIndex: number, indices: number[]): altair.SyncCommitteeContribution {
    const signatures = indices.map((index) => signatureAt(subcommitteeIndex * SYNC_COMMITTEE_SUBNET_SIZE + index));
    const aggregationBits = BitArray.fromBitLen(SYNC_COMMITTEE_SUBNET_SIZE);
    for (const index of indices) aggregationBits.set(index, true);
    return {
      slot: 1,
      beaconBlockRoot: chain.headRoot,
      subcommitteeIndex,
      aggregationBits,
      signature: aggregateSerializedSignatures(signatures).toBytes(),
    };
  }

  it("forms a sync aggregate from messages of the whole committee", () => {
    for (let position = 0; position < SYNC_COMMITTEE_SIZE; position++) expect(addMessage(position)).toBe("added");
    expect(addMessage(0)).toBe("known");
    const syncAggregate = pool.getSyncAggregate(1, toRootHex(chain.headRoot));
    expect(syncAggregate.syncCommitteeBits.getTrueBitIndexes()).toHaveLength(SYNC_COMMITTEE_SIZE);
    const members = Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, position) => memberAt(position));
    expect(new Set(members).size).toBeLessThan(members.length);
    chain.addBlock(2, { syncAggregate });
  });

  it("sums disjoint messages and contributions", () => {
    addMessage(0);
    expect(pool.addContribution(contribution(0, [1, 2]))).toBe("added");
    expect(pool.addContribution(contribution(0, [2]))).toBe("known");
    expect(pool.addContribution(contribution(0, [0, 1]))).toBe("added");
    pool.addContribution(contribution(3, [4, 5, 6]));
    const root = toRootHex(chain.headRoot);
    const best = pool.getContribution(0, 1, root)!;
    expect(best.aggregationBits.getTrueBitIndexes()).toEqual([0, 1, 2]);
    ssz.altair.SyncCommitteeContribution.serialize(best);

    const syncAggregate = pool.getSyncAggregate(1, root);
    const offset = 3 * SYNC_COMMITTEE_SUBNET_SIZE;
    expect(syncAggregate.syncCommitteeBits.getTrueBitIndexes()).toEqual([0, 1, 2, offset + 4, offset + 5, offset + 6]);
    chain.addBlock(2, { syncAggregate });
  });

  it("uses the point at infinity for empty participation", () => {
    const root = toRootHex(chain.headRoot);
    expect(pool.getContribution(0, 1, root)).toBeUndefined();
    addMessage(0);
    const syncAggregate = pool.getSyncAggregate(1, toRootHex(new Uint8Array(32)));
    expect(syncAggregate.syncCommitteeBits.getTrueBitIndexes()).toEqual([]);
    expect(syncAggregate.syncCommitteeSignature).toEqual(G2_POINT_AT_INFINITY);
    chain.addBlock(2, { syncAggregate });
  });

  it("restores a snapshot without later changes", () => {
    addMessage(0);
    const before = pool.list();
    const snapshot = pool.capture();
    const early = pool.capture();

    addMessage(1);
    addMessage(SYNC_COMMITTEE_SUBNET_SIZE);
    addMessage(0, 2);
    const otherRoot = toRootHex(new Uint8Array(32).fill(1));
    pool.addMessage({ slot: 1, beaconBlockRoot: otherRoot, ...locate(0), signature: signatureAt(0) });
    pool.restore(snapshot);
    expect(pool.list()).toEqual(before);

    pool.prune(9);
    pool.restore(early);
    expect(pool.list()).toEqual(before);
    expect(addMessage(1)).toBe("added");
  });

  it("drops old slots and rejects messages for them", () => {
    addMessage(0);
    const root = toRootHex(chain.headRoot);
    pool.prune(8);
    expect(pool.getContribution(0, 1, root)).toBeDefined();
    pool.prune(9);
    expect(pool.getContribution(0, 1, root)).toBeUndefined();
    expect(addMessage(1)).toBe("known");
    expect(pool.getContribution(0, 1, root)).toBeUndefined();
  });

  it("limits roots and keeps those with the most signers", () => {
    const popular = toRootHex(chain.headRoot);
    for (let position = 0; position < SYNC_COMMITTEE_SUBNET_COUNT; position++) addMessage(position);
    const signature = signatureAt(0);
    const roots = Array.from({ length: 200 }, (_, i) => toRootHex(new Uint8Array(32).fill(i + 1)));
    for (const beaconBlockRoot of roots) pool.addMessage({ slot: 1, beaconBlockRoot, ...locate(0), signature });
    expect(roots.filter((root) => pool.getContribution(0, 1, root) !== undefined)).toHaveLength(63);
    expect(pool.getContribution(0, 1, popular)).toBeDefined();

    for (let slot = 2; slot < 30; slot++) pool.addMessage({ slot, beaconBlockRoot: popular, ...locate(0), signature });
    const slots = Array.from({ length: 30 }, (_, slot) => slot);
    expect(slots.filter((slot) => pool.getContribution(0, slot, popular) !== undefined)).toHaveLength(9);
  });
});
