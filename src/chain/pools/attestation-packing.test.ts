import { ForkName, ForkSeq, MAX_ATTESTATIONS, MAX_ATTESTATIONS_ELECTRA, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAltair } from "@lodestar/state-transition";
import type { electra } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { TestChain } from "../../../test/support/chain/pools/pool-chain.ts";
import { variants } from "../../../test/support/suite/tier.ts";
import type { DevFork } from "../../dev/forks.ts";
import { packAttestations } from "./attestation-packing.ts";
import { AttestationPool } from "./attestation-pool.ts";

const FORKS = variants({
  fast: [ForkName.phase0, ForkName.fulu],
  full: [ForkName.altair, ForkName.deneb, ForkName.electra],
} as const);
const COMMITTEES = 2;

function addWholeCommittees(chain: TestChain, pool: AttestationPool, slot: number): void {
  for (let index = 0; index < COMMITTEES; index++) {
    const vote = chain.attestation(slot, index);
    vote.committee.forEach((_, position) => {
      chain.addSingle(pool, vote, position);
    });
  }
}

describe.each(FORKS)("packAttestations on %s", (fork) => {
  const isElectra = ForkSeq[fork] >= ForkSeq.electra;

  it("fills blocks until the chain finalizes and repeats no attestation", () => {
    const chain = new TestChain(fork, { validators: 64 });
    const pool = new AttestationPool();
    for (let slot = 1; slot <= 4 * SLOTS_PER_EPOCH + 1; slot++) {
      const state = chain.stateAt(slot);
      const attestations = packAttestations(pool, state);
      // All attestations except those from the last slot are on chain.
      expect(attestations).toHaveLength(slot === 1 ? 0 : isElectra ? 1 : COMMITTEES);
      if (slot > 1) expect(attestations.every(({ data }) => data.slot === slot - 1)).toBe(true);
      const post = chain.addBlock(slot, { attestations });
      expect(packAttestations(pool, chain.stateAt(slot + 1))).toEqual([]);
      if (fork !== ForkName.phase0 && slot > 1) {
        const flags = post as CachedBeaconStateAltair;
        const epochStart = slot % SLOTS_PER_EPOCH === 0;
        const participation = epochStart ? flags.previousEpochParticipation : flags.currentEpochParticipation;
        const voters = state.epochCtx.getBeaconCommittee(slot - 1, 0);
        expect(Array.from(voters, (voter) => participation.get(voter))).toEqual(Array.from(voters, () => 7));
      }
      addWholeCommittees(chain, pool, slot);
      pool.prune(slot);
    }
    expect(chain.head.finalizedCheckpoint.epoch).toBeGreaterThan(0);
  });

  it("chooses the most valuable aggregates and none without gain", () => {
    const chain = new TestChain(fork);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    expect(vote.committee.length).toBeGreaterThanOrEqual(4);
    chain.addAggregate(pool, vote, [0, 1]);
    chain.addAggregate(pool, vote, [1, 2, 3]);
    chain.addAggregate(pool, vote, [0, 2]);
    const attestations = packAttestations(pool, chain.stateAt(2));
    expect(attestations.map(({ aggregationBits }) => aggregationBits.getTrueBitIndexes())).toEqual([
      [1, 2, 3],
      [0, 1],
    ]);
    chain.addBlock(2, { attestations });
    expect(packAttestations(pool, chain.stateAt(3))).toEqual([]);
  });

  it("skips what the block cannot include", () => {
    const chain = new TestChain(fork);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const wrongRoot = new Uint8Array(32).fill(9);
    const { source, target } = chain.voteData(1, 0);
    chain.addSingle(pool, chain.attestation(1, 0, { source: { ...source, root: wrongRoot } }), 0);
    chain.addSingle(pool, chain.attestation(1, 0, { target: { ...target, epoch: 1 } }), 0);
    const otherCommittee = Uint32Array.from(chain.attestation(1, 0).committee).reverse();
    chain.addSingle(pool, { ...chain.attestation(1, 0), committee: otherCommittee }, 0);
    chain.addSingle(pool, chain.attestation(2, 0), 0);
    expect(packAttestations(pool, chain.stateAt(2))).toEqual([]);
    expect(packAttestations(pool, chain.stateAt(3)).map(({ data }) => data.slot)).toEqual([2]);
  });

  it("accepts an equal committee in another array", () => {
    const chain = new TestChain(fork);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const vote = chain.attestation(1, 0);
    chain.addSingle(pool, { ...vote, committee: vote.committee.slice() }, 0);
    expect(packAttestations(pool, chain.stateAt(2))).toHaveLength(1);
  });

  it("respects the inclusion window of the fork", () => {
    const chain = new TestChain(fork);
    chain.addBlock(1);
    const pool = new AttestationPool();
    // This slot is late in the epoch, so the end of the next epoch is more than an epoch away.
    chain.addSingle(pool, chain.attestation(2, 0), 0);
    const last = 2 + SLOTS_PER_EPOCH;
    const atLast = packAttestations(pool, chain.stateAt(last));
    expect(atLast).toHaveLength(1);
    const afterwards = packAttestations(pool, chain.stateAt(last + 1));
    expect(afterwards).toHaveLength(ForkSeq[fork] >= ForkSeq.deneb ? 1 : 0);
    chain.addBlock(last + 1, { attestations: afterwards });
  });
});

describe("packAttestations", () => {
  it("joins committees with the same data from Electra on, in committee order", () => {
    const chain = new TestChain(ForkName.electra);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const [first, second] = [chain.attestation(1, 0), chain.attestation(1, 1)];
    chain.addAggregate(pool, second, [0, 2]);
    chain.addAggregate(pool, first, [1]);
    const attestations = packAttestations(pool, chain.stateAt(2)) as electra.Attestation[];
    expect(attestations).toHaveLength(1);
    expect(attestations[0]!.committeeBits.getTrueBitIndexes()).toEqual([0, 1]);
    const offset = first.committee.length;
    expect(attestations[0]!.aggregationBits.getTrueBitIndexes()).toEqual([1, offset, offset + 2]);
    chain.addBlock(2, { attestations });
  });

  it("prefers attestations that set more flags", () => {
    const chain = new TestChain(ForkName.electra);
    chain.addBlock(1);
    const pool = new AttestationPool();
    const wrongHead = chain.attestation(1, 0, { beaconBlockRoot: new Uint8Array(32).fill(3) });
    chain.addAggregate(pool, wrongHead, [0, 1]);
    chain.addAggregate(pool, chain.attestation(1, 1), [0, 1]);
    const attestations = packAttestations(pool, chain.stateAt(2)) as electra.Attestation[];
    expect(attestations.map(({ committeeBits }) => committeeBits.getTrueBitIndexes())).toEqual([[1], [0]]);
  });

  it("excludes pre-Electra attestations from Electra blocks", () => {
    const chain = new TestChain(ForkName.deneb, { overrides: { ELECTRA_FORK_EPOCH: 1 } });
    const pool = new AttestationPool();
    const lastOfDeneb = SLOTS_PER_EPOCH - 1;
    chain.addBlock(lastOfDeneb);
    addWholeCommittees(chain, pool, lastOfDeneb);
    expect(packAttestations(pool, chain.stateAt(SLOTS_PER_EPOCH))).toEqual([]);
    chain.addBlock(SLOTS_PER_EPOCH);
    addWholeCommittees(chain, pool, SLOTS_PER_EPOCH);
    const attestations = packAttestations(pool, chain.stateAt(SLOTS_PER_EPOCH + 1));
    expect(attestations.map(({ data }) => data.slot)).toEqual([SLOTS_PER_EPOCH]);
    chain.addBlock(SLOTS_PER_EPOCH + 1, { attestations });
  });

  it.each(
    variants<[DevFork, number]>({
      fast: [[ForkName.electra, MAX_ATTESTATIONS_ELECTRA]],
      full: [[ForkName.deneb, MAX_ATTESTATIONS]],
    }),
  )("respects the limit of %s", (fork, limit) => {
    const chain = new TestChain(fork, { validators: 512 });
    chain.addBlock(1);
    const pool = new AttestationPool();
    const slots = SLOTS_PER_EPOCH;
    for (let slot = 1; slot < slots; slot++) {
      for (let index = 0; index < chain.head.epochCtx.getCommitteeCountPerSlot(0); index++) {
        // All attestations are for different heads, so none can be joined.
        const { committee } = chain.attestation(slot, index);
        committee.forEach((validator, position) => {
          const beaconBlockRoot = new Uint8Array(32);
          new DataView(beaconBlockRoot.buffer).setUint32(0, validator);
          chain.addSingle(pool, chain.attestation(slot, index, { beaconBlockRoot }), position);
        });
      }
    }
    const attestations = packAttestations(pool, chain.stateAt(slots));
    expect(attestations).toHaveLength(limit);
    chain.addBlock(slots, { attestations });
  });
});
