import { aggregateSignatures } from "@chainsafe/blst";
import {
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  ForkName,
  ForkSeq,
  MAX_VOLUNTARY_EXITS,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateElectra,
  computeSigningRoot,
  getBlsToExecutionChangeSignatureSet,
  getVoluntaryExitSignatureSet,
} from "@lodestar/state-transition";
import { type AttesterSlashing, type capella, type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { TestChain } from "../../../test/support/chain/pools/pool-chain.ts";
import { OperationPool } from "./operation-pool.ts";

/** No waiting period for exits, so that a young chain can include an exit. */
const overrides = { SHARD_COMMITTEE_PERIOD: 0 };
const FORKS = [ForkName.phase0, ForkName.altair, ForkName.deneb, ForkName.electra, ForkName.fulu] as const;

function proposerSlashing(chain: TestChain, proposerIndex: number): phase0.ProposerSlashing {
  const domain = chain.config.getDomain(1, DOMAIN_BEACON_PROPOSER, 1);
  const header = (filling: number) => {
    const message = {
      slot: 1n,
      proposerIndex,
      parentRoot: new Uint8Array(32).fill(filling),
      stateRoot: new Uint8Array(32),
      bodyRoot: new Uint8Array(32),
    };
    const signingRoot = computeSigningRoot(ssz.phase0.BeaconBlockHeaderBigint, message, domain);
    return { message, signature: chain.secretKeys[proposerIndex]!.sign(signingRoot).toBytes() };
  };
  return { signedHeader1: header(1), signedHeader2: header(2) };
}

/** A double vote by the given validators. */
function attesterSlashing(chain: TestChain, attestingIndices: number[], filling = 1): AttesterSlashing {
  const domain = chain.config.getDomain(1, DOMAIN_BEACON_ATTESTER, 1);
  const attestation = (root: number) => {
    const data = {
      slot: 1n,
      index: 0n,
      beaconBlockRoot: new Uint8Array(32).fill(root),
      source: { epoch: 0n, root: new Uint8Array(32) },
      target: { epoch: 0n, root: new Uint8Array(32) },
    };
    const signingRoot = computeSigningRoot(ssz.phase0.AttestationDataBigint, data, domain);
    const signatures = attestingIndices.map((index) => chain.secretKeys[index]!.sign(signingRoot));
    return { attestingIndices, data, signature: aggregateSignatures(signatures).toBytes() };
  };
  return { attestation1: attestation(filling), attestation2: attestation(filling + 100) };
}

function voluntaryExit(chain: TestChain, validatorIndex: number, epoch = 0): phase0.SignedVoluntaryExit {
  const exit = { message: { epoch, validatorIndex }, signature: new Uint8Array(96) };
  const { signingRoot } = getVoluntaryExitSignatureSet(chain.config, new BeaconStateView(chain.head), exit);
  return { ...exit, signature: chain.secretKeys[validatorIndex]!.sign(signingRoot).toBytes() };
}

function credentialsChange(chain: TestChain, validatorIndex: number): capella.SignedBLSToExecutionChange {
  const secretKey = chain.secretKeys[validatorIndex]!;
  const fromBlsPubkey = secretKey.toPublicKey().toBytes();
  const message = { validatorIndex, fromBlsPubkey, toExecutionAddress: new Uint8Array(20).fill(validatorIndex) };
  const change = { message, signature: new Uint8Array(96) };
  const { signingRoot } = getBlsToExecutionChangeSignatureSet(chain.config, change);
  return { message, signature: secretKey.sign(signingRoot).toBytes() };
}

describe("OperationPool", () => {
  it("stores each operation once and lists it", () => {
    const chain = new TestChain(ForkName.capella, { overrides });
    const pool = new OperationPool();
    expect(pool.addProposerSlashing(proposerSlashing(chain, 1))).toBe("added");
    expect(pool.addProposerSlashing(proposerSlashing(chain, 1))).toBe("known");
    const slashing = attesterSlashing(chain, [2, 3]);
    expect(pool.addAttesterSlashing(slashing, ForkName.capella)).toBe("added");
    expect(pool.addAttesterSlashing(slashing, ForkName.capella)).toBe("known");
    const swapped = { attestation1: slashing.attestation2, attestation2: slashing.attestation1 };
    expect(pool.addAttesterSlashing(swapped, ForkName.capella)).toBe("known");
    expect(pool.addAttesterSlashing(attesterSlashing(chain, [2, 4]), ForkName.capella)).toBe("added");
    expect(pool.addVoluntaryExit(voluntaryExit(chain, 5))).toBe("added");
    expect(pool.addVoluntaryExit(voluntaryExit(chain, 5))).toBe("known");
    expect(pool.addBlsToExecutionChange(credentialsChange(chain, 6))).toBe("added");
    expect(pool.addBlsToExecutionChange(credentialsChange(chain, 6))).toBe("known");

    expect([1, 2].map((index) => pool.hasProposerSlashing(index))).toEqual([true, false]);
    expect(pool.hasAttesterSlashingFor([2, 3, 4])).toBe(true);
    expect(pool.hasAttesterSlashingFor([2, 5])).toBe(false);
    expect([5, 6].map((index) => pool.hasVoluntaryExit(index))).toEqual([true, false]);
    expect([5, 6].map((index) => pool.hasBlsToExecutionChange(index))).toEqual([false, true]);
    expect(pool.listProposerSlashings()).toEqual([proposerSlashing(chain, 1)]);
    expect(pool.listAttesterSlashings()).toEqual([slashing, attesterSlashing(chain, [2, 4])]);
    expect(pool.listVoluntaryExits()).toEqual([voluntaryExit(chain, 5)]);
    expect(pool.listBlsToExecutionChanges()).toEqual([credentialsChange(chain, 6)]);
  });

  it("restores everything from its dump", () => {
    const chain = new TestChain(ForkName.electra, { overrides });
    const pool = new OperationPool();
    pool.addProposerSlashing(proposerSlashing(chain, 1));
    pool.addAttesterSlashing(attesterSlashing(chain, [2, 3]), ForkName.deneb);
    pool.addAttesterSlashing(attesterSlashing(chain, [4, 5, 6]), ForkName.electra);
    pool.addVoluntaryExit(voluntaryExit(chain, 7));
    pool.addBlsToExecutionChange(credentialsChange(chain, 8));
    const dumped = pool.dump();
    expect(dumped.map(({ kind }) => kind).sort()).toEqual([
      "attester-slashings/deneb",
      "attester-slashings/electra",
      "bls-to-execution-changes",
      "proposer-slashings",
      "voluntary-exits",
    ]);
    const loaded = new OperationPool();
    loaded.load(structuredClone(dumped));
    // Compared as JSON, because the library caches roots on the objects.
    const contents = (source: OperationPool) => [
      source.listProposerSlashings().map((slashing) => ssz.phase0.ProposerSlashing.toJson(slashing)),
      source.listAttesterSlashings().map((slashing) => ssz.electra.AttesterSlashing.toJson(slashing)),
      source.listVoluntaryExits().map((exit) => ssz.phase0.SignedVoluntaryExit.toJson(exit)),
      source.listBlsToExecutionChanges().map((change) => ssz.capella.SignedBLSToExecutionChange.toJson(change)),
    ];
    expect(contents(loaded)).toEqual(contents(pool));
    expect(loaded.dump()).toEqual(dumped);
    expect(new OperationPool().dump()).toEqual([]);
    expect(() => loaded.load([{ kind: "deposits", bytes: new Uint8Array() }])).toThrow("Unknown kind");
    expect(() => loaded.load([{ kind: "attester-slashings/x", bytes: new Uint8Array() }])).toThrow("Unknown fork");
  });

  describe.each(FORKS)("for a block on %s", (fork) => {
    const isElectra = ForkSeq[fork] >= ForkSeq.electra;

    it("selects operations that the transition accepts together, one per validator", () => {
      const chain = new TestChain(fork, { overrides });
      chain.addBlock(1);
      const proposer = chain.stateAt(2).epochCtx.getBeaconProposer(2);
      const others = [0, 1, 2, 3, 4, 5, 6].filter((index) => index !== proposer);
      const [a, b, c, d, e, f] = [others[0]!, others[1]!, others[2]!, others[3]!, others[4]!, others[5]!];
      const pool = new OperationPool();
      pool.addProposerSlashing(proposerSlashing(chain, a));
      const redundant = attesterSlashing(chain, [a]);
      const small = attesterSlashing(chain, [a, b], 2);
      const large = attesterSlashing(chain, [b, c, d], 3);
      for (const slashing of [redundant, small, large]) pool.addAttesterSlashing(slashing, fork);
      for (const index of [a, c, e]) pool.addVoluntaryExit(voluntaryExit(chain, index));
      for (const index of [a, f]) pool.addBlsToExecutionChange(credentialsChange(chain, index));

      const operations = pool.forBlock(chain.stateAt(2));
      expect(operations.proposerSlashings).toEqual([proposerSlashing(chain, a)]);
      expect(operations.attesterSlashings).toEqual([large]);
      expect(operations.voluntaryExits).toEqual([voluntaryExit(chain, e)]);
      expect(operations.blsToExecutionChanges).toHaveLength(ForkSeq[fork] >= ForkSeq.capella ? 2 : 0);
      expect(pool.forBlock(chain.stateAt(2))).toEqual(operations);

      const { blsToExecutionChanges, ...earlier } = operations;
      const post = chain.addBlock(2, ForkSeq[fork] >= ForkSeq.capella ? operations : earlier);
      for (const index of [a, b, c, d]) expect(post.validators.getReadonly(index).slashed).toBe(true);
      expect(post.validators.getReadonly(e).exitEpoch).not.toBe(Number.POSITIVE_INFINITY);
      expect(blsToExecutionChanges.map(({ message }) => message.validatorIndex)).toEqual(
        ForkSeq[fork] >= ForkSeq.capella ? [a, f] : [],
      );

      // No operation is valid any more, and pruning by the finalized state removes all of them.
      expect(Object.values(pool.forBlock(chain.stateAt(3))).flat()).toEqual([]);
      pool.prune(post);
      const changes = ForkSeq[fork] >= ForkSeq.capella ? 0 : 2;
      expect([...pool.listProposerSlashings(), ...pool.listAttesterSlashings(), ...pool.listVoluntaryExits()]).toEqual(
        [],
      );
      expect(pool.listBlsToExecutionChanges()).toHaveLength(changes);
    });

    it("respects the limits", () => {
      const chain = new TestChain(fork, { overrides });
      chain.addBlock(1);
      const pool = new OperationPool();
      for (let index = 0; index < MAX_VOLUNTARY_EXITS + 3; index++) pool.addVoluntaryExit(voluntaryExit(chain, index));
      for (let index = 40; index < 44; index++) pool.addAttesterSlashing(attesterSlashing(chain, [index]), fork);
      const { voluntaryExits, attesterSlashings } = pool.forBlock(chain.stateAt(2));
      expect(voluntaryExits).toHaveLength(MAX_VOLUNTARY_EXITS);
      expect(attesterSlashings).toHaveLength(isElectra ? 1 : 2);
      chain.addBlock(2, { voluntaryExits, attesterSlashings });
    });
  });

  it("keeps operations that may become valid", () => {
    const chain = new TestChain(ForkName.capella);
    const pool = new OperationPool();
    pool.addProposerSlashing(proposerSlashing(chain, 1));
    pool.addAttesterSlashing(attesterSlashing(chain, [2]), ForkName.capella);
    pool.addVoluntaryExit(voluntaryExit(chain, 3));
    pool.addBlsToExecutionChange(credentialsChange(chain, 4));
    const before = pool.dump();
    // The validator has not been active long enough.
    expect(pool.forBlock(chain.stateAt(1)).voluntaryExits).toEqual([]);
    pool.prune(chain.head);
    expect(pool.dump()).toEqual(before);
  });

  it("prunes operations signed for old forks, except exits from Capella on", () => {
    const later = { DENEB_FORK_EPOCH: 1, ELECTRA_FORK_EPOCH: 2, FULU_FORK_EPOCH: 3 };
    const chain = new TestChain(ForkName.capella, { overrides: later });
    const pool = new OperationPool();
    pool.addProposerSlashing(proposerSlashing(chain, 1), ForkSeq.capella);
    pool.addAttesterSlashing(attesterSlashing(chain, [2]), ForkName.capella, ForkSeq.capella);
    pool.addVoluntaryExit(voluntaryExit(chain, 3), ForkSeq.capella);
    pool.prune(chain.stateAt(SLOTS_PER_EPOCH));
    expect(pool.sizes).toMatchObject({ proposerSlashings: 1, attesterSlashings: 1, voluntaryExits: 1 });
    pool.prune(chain.stateAt(3 * SLOTS_PER_EPOCH));
    expect(pool.sizes).toMatchObject({ proposerSlashings: 0, attesterSlashings: 0, voluntaryExits: 1 });
  });

  it("excludes an exit with pending withdrawals (Electra)", () => {
    const chain = new TestChain(ForkName.electra, { overrides });
    const pool = new OperationPool();
    pool.addVoluntaryExit(voluntaryExit(chain, 3));
    pool.addVoluntaryExit(voluntaryExit(chain, 4));
    const state = chain.stateAt(1) as CachedBeaconStateElectra;
    const withdrawal = { validatorIndex: 3, amount: 1n, withdrawableEpoch: 300 };
    state.pendingPartialWithdrawals.push(ssz.electra.PendingPartialWithdrawal.toViewDU(withdrawal));
    state.commit();
    expect(pool.forBlock(state).voluntaryExits).toEqual([voluntaryExit(chain, 4)]);
  });

  it("excludes operations that later domains make unverifiable", () => {
    const schedule = { ...overrides, BELLATRIX_FORK_EPOCH: 1, CAPELLA_FORK_EPOCH: 2, DENEB_FORK_EPOCH: 3 };
    const chain = new TestChain(ForkName.altair, { overrides: schedule });
    chain.addBlock(1);
    const pool = new OperationPool();
    pool.addProposerSlashing(proposerSlashing(chain, 1), ForkSeq.altair);
    pool.addVoluntaryExit(voluntaryExit(chain, 2), ForkSeq.altair);
    pool.addAttesterSlashing(attesterSlashing(chain, [3]), ForkName.altair, ForkSeq.altair);
    const countsAt = (slot: number) => {
      const { proposerSlashings, attesterSlashings, voluntaryExits } = pool.forBlock(chain.stateAt(slot));
      return [proposerSlashings.length, attesterSlashings.length, voluntaryExits.length];
    };
    // A state contains only the versions of its own fork and of the previous fork (get_domain).
    expect(countsAt(2)).toEqual([1, 1, 1]);
    expect(countsAt(8)).toEqual([1, 1, 1]);
    const { proposerSlashings, attesterSlashings, voluntaryExits } = pool.forBlock(chain.stateAt(8));
    expect(countsAt(16)).toEqual([0, 0, 0]);
    expect(countsAt(24)).toEqual([0, 0, 0]);
    chain.addBlock(8, { proposerSlashings, attesterSlashings, voluntaryExits });
  });

  it("replaces a slashing with an invalid signature by the next best", () => {
    const chain = new TestChain(ForkName.electra, { overrides });
    chain.addBlock(1);
    const pool = new OperationPool();
    const large = attesterSlashing(chain, [1, 2, 3]);
    const forged = { ...large, attestation2: { ...large.attestation2, signature: large.attestation1.signature } };
    const malformed = { ...large, attestation1: { ...large.attestation1, signature: new Uint8Array(96) } };
    const small = attesterSlashing(chain, [4]);
    for (const slashing of [forged, malformed, small]) pool.addAttesterSlashing(slashing, ForkName.electra);
    pool.addVoluntaryExit({ ...voluntaryExit(chain, 9), signature: new Uint8Array(96) });
    const operations = pool.forBlock(chain.stateAt(2));
    expect(operations.attesterSlashings).toEqual([small]);
    expect(operations.voluntaryExits).toEqual([]);
    // The validators of the other slashings can exit.
    pool.addVoluntaryExit(voluntaryExit(chain, 1));
    expect(pool.forBlock(chain.stateAt(2)).voluntaryExits).toEqual([voluntaryExit(chain, 1)]);
  });
});
