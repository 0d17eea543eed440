import { routes } from "@lodestar/api";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_SIZE,
} from "@lodestar/params";
import { type altair, type BeaconBlock, type electra, type fulu, type SingleAttestation, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Api, createApi } from "../../../src/api/api.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { EngineUnavailableError } from "../../../src/execution/engine.ts";
import { Caller } from "../../support/api/caller.ts";
import { fakeNetwork } from "../../support/api/fake-chain.ts";
import { RecordingBroadcast } from "../../support/api/recording-broadcast.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { type OpenedDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";

/** Enough for two committees per slot. */
const VALIDATORS = 64;
/** The second slot of the first epoch in which validators may exit; the head is still the genesis block. */
const SLOT = 4 * SLOTS_PER_EPOCH + 1;
const NOT_A_SIGNATURE = new Uint8Array(96);

let opened: OpenedDevChain;
let byHand: ByHand;
let api: Api;
/** The head when each block was broadcast. */
let headsWhenSent: string[];
const broadcast = new (class extends RecordingBroadcast {
  override block(item: unknown): void {
    headsWhenSent.push(opened.devChain.chain.head.root);
    super.block(item);
  }
})();

beforeAll(async () => {
  opened = await startQuietDevChain(0, { validators: VALIDATORS, forks: [{ fork: "fulu", epoch: 0 }] });
  const { chain, clock } = opened.devChain;
  byHand = new ByHand(opened.devChain);
  api = createApi({ chain, network: fakeNetwork(chain), broadcast, setLogSpec: () => {} });
  await clock.advanceTo(SLOT);
});
afterAll(() => opened.close());

beforeEach(() => {
  broadcast.take();
  headsWhenSent = [];
});

/** Submits a valid object twice, which broadcasts it once, and an invalid one, which broadcasts nothing. */
async function expectSentOnce<Item>(submit: (item: Item) => Promise<unknown>, good: Item, bad: Item, sent: unknown[]) {
  await expect(submit(bad)).rejects.toThrow("rejected");
  expect(broadcast.take()).toEqual([]);
  await submit(good);
  expect(broadcast.take()).toEqual(sent);
  await submit(good);
  expect(broadcast.take()).toEqual([]);
}

describe("attestations are broadcast", () => {
  it("on the subnet of their committee", async () => {
    const signed = await byHand.attestationsFor(SLOT, opened.devChain.chain.head.root);
    const attestations = signed.map(({ attestation }) => attestation as SingleAttestation);
    const forged = attestations.map((attestation) => ({ ...attestation, signature: NOT_A_SIGNATURE }));
    // Two committees in each earlier slot of the epoch: compute_subnet_for_attestation of phase0/validator.md.
    const subnets = attestations.map((attestation) => 2 + (attestation as electra.SingleAttestation).committeeIndex);
    expect(new Set(subnets)).toEqual(new Set([2, 3]));
    const submit = (signedAttestations: SingleAttestation[]) =>
      api.beacon.submitPoolAttestationsV2({ signedAttestations });

    // Valid items of a list are broadcast although others are rejected.
    await expect(submit([forged[0]!, attestations[1]!])).rejects.toThrow("1 of 2 items");
    expect(broadcast.take()).toEqual([{ kind: "attestation", item: attestations[1], subnet: subnets[1] }]);

    const sent = attestations.map((item, i) => ({ kind: "attestation", item, subnet: subnets[i] }));
    await expectSentOnce(submit, attestations, forged, sent.toSpliced(1, 1));
  });

  it("as aggregates", async () => {
    const [{ validator, attestation } = expect.unreachable()] = await byHand.attestationsFor(
      SLOT,
      opened.devChain.chain.head.root,
    );
    const { data, committeeIndex } = attestation as electra.SingleAttestation;
    const attestationDataRoot = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
    const aggregate = await api.validator.getAggregatedAttestationV2({
      attestationDataRoot,
      slot: SLOT,
      committeeIndex,
    });
    const { signer } = byHand;
    const message: electra.AggregateAndProof = {
      aggregatorIndex: validator,
      aggregate: aggregate.data as electra.Attestation,
      selectionProof: signer.sign(validator, signer.signingRoot(ssz.Slot, SLOT, DOMAIN_SELECTION_PROOF, SLOT)),
    };
    const type = ssz.electra.AggregateAndProof;
    const signature = signer.sign(validator, signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, SLOT));
    await expectSentOnce(
      (signedAggregate) => api.validator.publishAggregateAndProofsV2({ signedAggregateAndProofs: [signedAggregate] }),
      { message, signature },
      { message, signature: NOT_A_SIGNATURE },
      [{ kind: "aggregate", item: { message, signature } }],
    );
  });
});

describe("sync committee signatures are broadcast", () => {
  const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
  const subnetsOf = ({ validatorSyncCommitteeIndices }: routes.validator.SyncDuty) => [
    ...new Set(validatorSyncCommitteeIndices.map((seat) => Math.floor(seat / SYNC_COMMITTEE_SUBNET_SIZE))),
  ];
  let duties: routes.validator.SyncDuty[];
  let beaconBlockRoot: Uint8Array;
  beforeAll(async () => {
    const { data } = await api.validator.getSyncCommitteeDuties({
      epoch: Math.floor(SLOT / SLOTS_PER_EPOCH),
      indices: everybody,
    });
    duties = data;
    beaconBlockRoot = fromHex(opened.devChain.chain.head.root);
  });

  const messageOf = (validatorIndex: number): altair.SyncCommitteeMessage => {
    const { signer } = byHand;
    const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, SLOT);
    return { slot: SLOT, beaconBlockRoot, validatorIndex, signature: signer.sign(validatorIndex, signingRoot) };
  };

  it("on each subnet of their validator", async () => {
    const messages = duties.map(({ validatorIndex }) => messageOf(validatorIndex));
    const sent = messages.flatMap((item, i) =>
      subnetsOf(duties[i]!).map((subnet) => ({ kind: "syncMessage", item, subnet })),
    );
    expect(sent.length).toBeGreaterThan(messages.length);
    await expectSentOnce(
      (signatures) => api.beacon.submitPoolSyncCommitteeSignatures({ signatures }),
      messages,
      [{ ...messages[0]!, signature: NOT_A_SIGNATURE }],
      sent,
    );
  });

  it("as contributions", async () => {
    const { signer } = byHand;
    const [duty] = duties;
    const aggregatorIndex = duty!.validatorIndex;
    const subcommitteeIndex = subnetsOf(duty!)[0]!;
    const { data } = await api.validator.produceSyncCommitteeContribution({
      slot: SLOT,
      subcommitteeIndex,
      beaconBlockRoot: toRootHex(beaconBlockRoot),
    });
    const proofRoot = signer.signingRoot(
      ssz.altair.SyncAggregatorSelectionData,
      { slot: SLOT, subcommitteeIndex },
      DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
      SLOT,
    );
    const selectionProof = signer.sign(aggregatorIndex, proofRoot);
    const message = { aggregatorIndex, contribution: data, selectionProof };
    const type = ssz.altair.ContributionAndProof;
    const signingRoot = signer.signingRoot(type, message, DOMAIN_CONTRIBUTION_AND_PROOF, SLOT);
    const signature = signer.sign(aggregatorIndex, signingRoot);
    await expectSentOnce(
      (contribution) => api.validator.publishContributionAndProofs({ contributionAndProofs: [contribution] }),
      { message, signature },
      { message, signature: NOT_A_SIGNATURE },
      [{ kind: "contribution", item: { message, signature } }],
    );
  });
});

it("operations are broadcast", async () => {
  const operations = new SignedOperations(opened.devChain);
  const [exit, noExit] = [operations.exit(1), operations.exit(1, { by: 2 })];
  await expectSentOnce(
    (signedVoluntaryExit) => api.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit }),
    exit,
    noExit,
    [{ kind: "voluntaryExit", item: exit }],
  );

  const [proposals, sameTwice] = [operations.doubleProposal(3, 5), operations.doubleProposal(3, 5, { differ: false })];
  await expectSentOnce(
    (proposerSlashing) => api.beacon.submitPoolProposerSlashings({ proposerSlashing }),
    proposals,
    sameTwice,
    [{ kind: "proposerSlashing", item: proposals }],
  );

  const [doubleVote, sameVote] = [
    operations.doubleVote([4, 5], 1),
    operations.doubleVote([4, 5], 1, { differ: false }),
  ];
  await expectSentOnce(
    (attesterSlashing) => api.beacon.submitPoolAttesterSlashingsV2({ attesterSlashing }),
    doubleVote,
    sameVote,
    [{ kind: "attesterSlashing", item: doubleVote }],
  );

  const address = new Uint8Array(20).fill(6);
  const [change, noChange] = [
    operations.credentialsChange(6, address),
    operations.credentialsChange(6, address, { key: 7 }),
  ];
  await expectSentOnce(
    (blsToExecutionChange) =>
      api.beacon.submitPoolBLSToExecutionChange({ blsToExecutionChanges: [blsToExecutionChange] }),
    change,
    noChange,
    [{ kind: "blsToExecutionChange", item: change }],
  );
});

describe("blocks are broadcast", () => {
  const { gossip, consensus, consensusAndEquivocation } = routes.beacon.BroadcastValidation;
  const withWrongState = (block: BeaconBlock): BeaconBlock =>
    ({ ...block, stateRoot: new Uint8Array(32) }) as BeaconBlock;

  async function nextBlock() {
    const { chain, clock } = opened.devChain;
    await clock.advanceTo(clock.currentSlot + 1);
    return byHand.produce(clock.currentSlot, chain.head.root);
  }

  const publishing =
    (broadcastValidation?: typeof gossip | typeof consensus | typeof consensusAndEquivocation) =>
    (signedBlock: unknown) =>
      api.beacon.publishBlockV2({ signedBlockContents: { signedBlock } as never, broadcastValidation });

  it.each([undefined, gossip] as const)("before the import with validation %s", async (level) => {
    const parent = opened.devChain.chain.head.root;
    const { signed, root } = byHand.sign(await nextBlock());
    const forged = { ...signed, signature: NOT_A_SIGNATURE };
    await expectSentOnce(publishing(level), signed, forged, [{ kind: "block", item: signed }]);
    expect(headsWhenSent).toEqual([parent]);
    expect(opened.devChain.chain.head.root).toBe(root);
  });

  it.each([consensus, consensusAndEquivocation] as const)("after the import with validation %s", async (level) => {
    const { signed, root } = byHand.sign(await nextBlock());
    const forged = { ...signed, signature: NOT_A_SIGNATURE };
    await expectSentOnce(publishing(level), signed, forged, [{ kind: "block", item: signed }]);
    expect(headsWhenSent).toEqual([root]);
  });

  it("although they cannot be imported, unless more than gossip validation is requested", async () => {
    const { signed } = byHand.sign(withWrongState(await nextBlock()));
    for (const level of [consensus, consensusAndEquivocation] as const) {
      await expect(publishing(level)(signed)).rejects.toThrow("state root");
    }
    expect(broadcast.take()).toEqual([]);
    expect(await publishing()(signed)).toEqual({ status: 202 });
    expect(broadcast.take()).toEqual([{ kind: "block", item: signed }]);
  });

  it.each([gossip, consensus, consensusAndEquivocation] as const)(
    "although the execution engine is unavailable, and imported once it is available, with validation %s",
    async (level) => {
      const { chain, clock } = opened.devChain;
      const { signed, root } = byHand.sign(await nextBlock());
      const silence = vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload");
      onTestFinished(() => silence.mockRestore());
      silence.mockRejectedValue(new EngineUnavailableError("The execution engine is away."));
      expect(await publishing(level)(signed)).toEqual({ status: 202 });
      expect(broadcast.take()).toEqual([{ kind: "block", item: signed }]);
      const json = ssz.fulu.SignedBeaconBlock.toJson(signed as fulu.SignedBeaconBlock);
      const posted = { signed_block: json, kzg_proofs: [], blobs: [] };
      expect(await new Caller(api).error("post_v1_validator_block", [posted])).toMatchObject({
        code: -32002,
        message: expect.stringMatching(/was broadcast, but is not imported yet.*is away/),
      });
      expect(chain.forkChoice.has(root)).toBe(false);

      silence.mockRestore();
      const imported = new Promise((resolve) => onTestFinished(chain.events.on("blockImported", resolve)));
      await clock.advanceTo(clock.currentSlot + 1);
      await imported;
      expect(chain.head.root).toBe(root);
    },
  );

  it("once per proposer", async () => {
    const first = byHand.sign(await nextBlock());
    await publishing()(first.signed);
    const parent = opened.devChain.chain.forkChoice.get(first.root)!.parentRoot;
    const second = byHand.sign(await byHand.produce(opened.devChain.clock.currentSlot, parent, 1));
    broadcast.take();
    await expect(publishing()(second.signed)).rejects.toThrow("already proposed another block");
    expect(broadcast.take()).toEqual([]);
  });
});
