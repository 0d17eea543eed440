import { fastAggregateVerify, Signature } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { ForkName, MAX_COMMITTEES_PER_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { getAttestationDataSigningRoot } from "@lodestar/state-transition";
import { type electra, type phase0, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { TestChain } from "../../../test/support/chain/pools/pool-chain.ts";
import { AttestationPool } from "./attestation-pool.ts";

const ANY_SIGNATURE_KEY = 0;

describe("AttestationPool before electra", () => {
  let chain: TestChain;
  beforeAll(() => {
    chain = new TestChain(ForkName.deneb);
    chain.addBlock(1);
  });

  it("combines single attestations and aggregates into a verifiable attestation", () => {
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    expect(chain.addSingle(pool, vote, 0)).toBe("added");
    expect(chain.addSingle(pool, vote, 0)).toBe("known");
    expect(chain.addAggregate(pool, vote, [1, 2])).toBe("added");
    expect(chain.addAggregate(pool, vote, [2])).toBe("known");

    const attestation = pool.getAggregate(1, vote.dataRoot) as phase0.Attestation;
    expect(attestation.aggregationBits.getTrueBitIndexes()).toEqual([0, 1, 2]);
    expect(attestation).not.toHaveProperty("committeeBits");
    const pubkeys = [0, 1, 2].map((position) => chain.secretKeys[vote.committee[position]!]!.toPublicKey());
    const signingRoot = getAttestationDataSigningRoot(chain.config, 1, vote.data);
    expect(fastAggregateVerify(signingRoot, pubkeys, Signature.fromBytes(attestation.signature, true))).toBe(true);
    ssz.phase0.Attestation.serialize(attestation);
  });

  it("has no aggregate for unknown data", () => {
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    expect(pool.getAggregate(1, vote.dataRoot)).toBeUndefined();
    chain.addSingle(pool, vote, 0);
    expect(pool.getAggregate(2, vote.dataRoot)).toBeUndefined();
    expect(pool.getAggregate(1, toRootHex(new Uint8Array(32)))).toBeUndefined();
    expect(pool.getAggregate(1, vote.dataRoot, 1)).toBeUndefined();
  });

  it("lists by slot and committee", () => {
    const pool = new AttestationPool();
    for (const [slot, committeeIndex] of [
      [1, 0],
      [1, 1],
      [2, 0],
    ] as const) {
      chain.addSingle(pool, chain.attestation(slot, committeeIndex), 0);
    }
    const slotsAndCommittees = (filter?: Parameters<AttestationPool["list"]>[0]) =>
      pool.list(filter).map(({ data }) => [data.slot, data.index]);
    expect(slotsAndCommittees()).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
    ]);
    expect(slotsAndCommittees({ slot: 1 })).toEqual([
      [1, 0],
      [1, 1],
    ]);
    expect(slotsAndCommittees({ committeeIndex: 0 })).toEqual([
      [1, 0],
      [2, 0],
    ]);
    expect(slotsAndCommittees({ slot: 2, committeeIndex: 1 })).toEqual([]);
  });

  it("restores a snapshot without later changes", () => {
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    chain.addSingle(pool, vote, 0);
    const before = pool.list();
    const snapshot = pool.capture();

    chain.addSingle(pool, vote, 1);
    chain.addSingle(pool, chain.attestation(1, 1), 0);
    chain.addSingle(pool, chain.attestation(2, 0), 0);
    pool.restore(snapshot);

    expect(pool.list()).toEqual(before);
    expect(pool.size).toBe(1);

    const early = pool.capture();
    pool.prune(2 * SLOTS_PER_EPOCH);
    pool.restore(early);
    expect(pool.list()).toEqual(before);
    expect(chain.addSingle(pool, vote, 1)).toBe("added");
  });

  it("keeps two epochs and rejects older attestations", () => {
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    chain.addSingle(pool, vote, 0);
    pool.prune(2 * SLOTS_PER_EPOCH - 1);
    expect(pool.slots()).toEqual([1]);
    pool.prune(2 * SLOTS_PER_EPOCH);
    expect(pool.slots()).toEqual([]);
    expect(chain.addSingle(pool, vote, 1)).toBe("known");
    expect(pool.slots()).toEqual([]);
  });

  it("limits different votes and keeps those with the most attesters", () => {
    const pool = new AttestationPool();
    const popular = chain.attestation(1, 0);
    chain.addAggregate(pool, popular, [0, 1, 2]);
    const signature = chain.secretKeys[ANY_SIGNATURE_KEY]!.sign(new Uint8Array(32)).toBytes();
    const flood = MAX_COMMITTEES_PER_SLOT * 32 + 50;
    for (let i = 0; i < flood; i++) {
      const beaconBlockRoot = new Uint8Array(32);
      new DataView(beaconBlockRoot.buffer).setUint32(0, i);
      const data = { ...popular.data, beaconBlockRoot };
      pool.addSingle({ ...popular, data, dataRoot: toRootHex(beaconBlockRoot), position: 0, signature });
    }
    expect(pool.list()).toHaveLength(MAX_COMMITTEES_PER_SLOT * 32);
    expect(pool.getAggregate(1, popular.dataRoot)).toBeDefined();

    for (let slot = 2; slot < 10 * SLOTS_PER_EPOCH; slot++) {
      pool.addSingle({ ...popular, data: { ...popular.data, slot }, position: 0, signature });
    }
    expect(pool.slots()).toHaveLength(3 * SLOTS_PER_EPOCH);
    expect(pool.slots().at(-1)).toBe(10 * SLOTS_PER_EPOCH - 1);
  });
});

describe("AttestationPool from electra on", () => {
  it("separates committees with the same data and sets committee bits", () => {
    const chain = new TestChain(ForkName.electra);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const [first, second] = [chain.attestation(1, 0), chain.attestation(1, 1)];
    expect(first.dataRoot).toBe(second.dataRoot);
    chain.addSingle(pool, first, 0);
    chain.addAggregate(pool, second, [0, 3]);

    const ofFirst = pool.getAggregate(1, first.dataRoot, 0) as electra.Attestation;
    expect(ofFirst.committeeBits).toEqual(BitArray.fromSingleBit(MAX_COMMITTEES_PER_SLOT, 0));
    expect(ofFirst.aggregationBits.getTrueBitIndexes()).toEqual([0]);
    const ofSecond = pool.getAggregate(1, first.dataRoot, 1) as electra.Attestation;
    expect(ofSecond.committeeBits.getTrueBitIndexes()).toEqual([1]);
    expect(ofSecond.aggregationBits.getTrueBitIndexes()).toEqual([0, 3]);
    expect(pool.getAggregate(1, first.dataRoot)).toEqual(ofSecond);
    expect(pool.list({ committeeIndex: 1 })).toEqual([ofSecond]);
    ssz.electra.Attestation.serialize(ofSecond);
  });

  it("restores a snapshot without later committees of the same data", () => {
    const chain = new TestChain(ForkName.electra);
    chain.addBlock(1);
    const pool = new AttestationPool();
    chain.addSingle(pool, chain.attestation(1, 0), 0);
    const before = pool.list();
    const snapshot = pool.capture();
    chain.addSingle(pool, chain.attestation(1, 1), 0);
    pool.restore(snapshot);
    expect(pool.list()).toEqual(before);
  });
});
