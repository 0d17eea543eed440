import { randomBytes } from "node:crypto";
import type { Stream } from "@libp2p/interface";
import { type BeaconBlock, type phase0, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { compressSync } from "snappy";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attestationSubnet } from "../../../src/chain/subscriptions/committee-subscriptions.ts";
import { GossipTopics, type TopicKind } from "../../../src/network/gossip/topics.ts";
import { encodeChunk } from "../../../src/network/reqresp/response-chunk.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";
import { variants } from "../../support/suite/tier.ts";
import type { Adversary } from "./support/adversary.ts";
import { eventually, Scenario } from "./support/scenario.ts";

const { altair, fulu, phase0: first } = ssz;
const COUNT = 12;

let scenario: Scenario;
let byHand: ByHand;
let slot: Slot;
/** A valid, unpublished block of the current slot. */
let block: BeaconBlock;
/** Valid attestations of the current slot. */
let attestations: phase0.Attestation[];
beforeAll(async () => {
  scenario = await Scenario.begin({ forks: [{ fork: "altair", epoch: 0 }] });
  byHand = new ByHand(scenario.honest);
  slot = await scenario.skipSlot();
  const head = scenario.honest.chain.head.root;
  block = await byHand.produce(slot, head);
  attestations = (await byHand.attestationsFor(slot, head)).map(({ attestation }) => attestation as phase0.Attestation);
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  // All rejected blocks, and nothing else.
  const refusals = complaints.filter((line) => /Rejected block from peer +slot=\d+ root=0x\w{64} peer=\w+ /.test(line));
  expect(complaints).toEqual(refusals);
  const reasons = new Set(refusals.map((line) => /reason=(\S+)/.exec(line)?.[1]));
  expect(reasons).toEqual(new Set(["bad-signature", "wrong-state-root"]));
});

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const topic = (kind: TopicKind, subnet = 0) => new GossipTopics(scenario.network.config).at(0, kind, subnet)!.name;
const joinedAll = (kind: TopicKind) => scenario.pubsub.getTopics().filter((name) => name.includes(`/${kind}_`));
const joined = (kind: TopicKind) => joinedAll(kind)[0]!;
/** A subnet that the victim has joined. They are random, so it may be the right one. */
const wrongSubnet = ({ slot, index }: phase0.AttestationData) => {
  const { committeesPerSlot } = scenario.honest.chain.headState.epochCtx.currentShuffling;
  const right = topic("beacon_attestation", attestationSubnet(committeesPerSlot, slot, index));
  return joinedAll("beacon_attestation").find((name) => name !== right)!;
};
const send = (adversary: Adversary, to: string, objects: Uint8Array[]) =>
  adversary.publish(...objects.map((object) => ({ topic: to, data: compressSync(object) })));
const blockBytes = (signed: SignedBeaconBlock) => altair.SignedBeaconBlock.serialize(signed as never);

/** A valid signature, but of another validator. */
const foreignSignature = () => byHand.signer.sign(0, randomBytes(32));

const FORGERIES: [what: string, reason: string, make: () => { to: string; objects: Uint8Array[] }][] = [
  [
    "blocks",
    "bad-signature",
    () => ({
      to: topic("beacon_block"),
      objects: times(COUNT, () => blockBytes({ message: block, signature: foreignSignature() })),
    }),
  ],
  [
    "attestations on a subnet that is not theirs",
    "wrong-subnet",
    () => ({
      to: wrongSubnet(attestations[0]!.data),
      objects: times(COUNT, () => first.Attestation.serialize({ ...attestations[0]!, signature: foreignSignature() })),
    }),
  ],
  [
    "aggregates",
    "bad-selection-proof",
    () => ({
      to: topic("beacon_aggregate_and_proof"),
      objects: times(COUNT, () => {
        const message = {
          aggregatorIndex: aggregator(),
          aggregate: attestations[0]!,
          selectionProof: foreignSignature(),
        };
        return first.SignedAggregateAndProof.serialize({ message, signature: foreignSignature() });
      }),
    }),
  ],
  [
    "contributions of a sync committee",
    "bad-selection-proof",
    () => ({
      to: topic("sync_committee_contribution_and_proof"),
      objects: times(COUNT, () => {
        const { epochCtx } = scenario.honest.chain.headState;
        const contribution = altair.SyncCommitteeContribution.defaultValue();
        contribution.slot = slot;
        contribution.beaconBlockRoot = attestations[0]!.data.beaconBlockRoot;
        contribution.aggregationBits.set(0, true);
        const message = {
          aggregatorIndex: epochCtx.currentSyncCommitteeIndexed.validatorIndices[0]!,
          contribution: { ...contribution, signature: foreignSignature() },
          selectionProof: foreignSignature(),
        };
        return altair.SignedContributionAndProof.serialize({ message, signature: foreignSignature() });
      }),
    }),
  ],
  [
    "exits before their time",
    "too-young",
    () => ({
      to: topic("voluntary_exit"),
      objects: times(COUNT, (by) => {
        const exit = new SignedOperations(scenario.honest).exit(15, { by });
        return first.SignedVoluntaryExit.serialize(exit);
      }),
    }),
  ],
  [
    "double votes that nobody cast",
    "bad-signature",
    () => ({
      to: topic("attester_slashing"),
      objects: times(COUNT, (by) => {
        const slashing = new SignedOperations(scenario.honest).doubleVote([14], 0, { by: [by] });
        return first.AttesterSlashing.serialize(slashing as phase0.AttesterSlashing);
      }),
    }),
  ],
];

/** The committee member of the attestation's only bit. */
function aggregator(): number {
  const { epochCtx } = scenario.honest.chain.headState;
  return epochCtx.getBeaconCommittee(slot, attestations[0]!.data.index)[
    attestations[0]!.aggregationBits.getSingleTrueBit()!
  ]!;
}

it.concurrent.each(variants({ fast: FORGERIES.slice(0, 1), full: FORGERIES }))(
  "a peer that broadcasts forged objects is disconnected: %s",
  async (_what, reason, make) => {
    const adversary = await scenario.adversary();
    const { to, objects } = make();
    await send(adversary, to, objects);
    await eventually(() => expect(scenario.refusals(adversary)).toContain(reason));
    await scenario.expectSentAway(adversary);
  },
);

it("an invalid block that passes gossip validation penalizes its sender moderately", async () => {
  const adversary = await scenario.adversary();
  const wrong = byHand.sign({ ...block, stateRoot: randomBytes(32) } as BeaconBlock);
  await send(adversary, topic("beacon_block"), [blockBytes(wrong.signed)]);
  await eventually(() => expect(scenario.score(adversary)).toBeLessThan(0));
  expect(scenario.victim.chain.forkChoice.has(wrong.root)).toBe(false);
  // The honest node received it from the victim, which forwarded it in good faith.
  expect(scenario.honest.networking.network.peers.scores.standing(scenario.victim.peerId)).toBe("good");
  await scenario.expectFollowing();
});

it("attestations to nonexistent blocks cause a bounded number of requests", async () => {
  const [adversary, witness] = [await scenario.adversary(), await scenario.adversary()];
  const current = scenario.network.clock.currentSlot;
  const [signed] = await byHand.attestationsFor(current, scenario.honest.chain.head.root);
  const attestation = signed!.attestation as phase0.Attestation;
  const objects = times(300, () =>
    first.Attestation.serialize({ ...attestation, data: { ...attestation.data, beaconBlockRoot: randomBytes(32) } }),
  );
  await send(adversary, joined("beacon_attestation"), objects);
  await eventually(() => expect(byRoot(witness)).toBeGreaterThan(0));
  await scenario.expectFollowing();
  await scenario.expectFollowing();
  expect(byRoot(adversary)).toBeLessThanOrEqual(16);
  expect(byRoot(witness)).toBeLessThanOrEqual(16);
  expect(scenario.score(adversary)).toBeLessThan(0);
  expect(scenario.score(witness)).toBe(0);
});

it("an endless chain of ancestors is followed up to a limit, and never imported", async () => {
  const adversary = await scenario.adversary();
  const current = scenario.network.clock.currentSlot;
  const chain = new Map<string, { bytes: Uint8Array; parentRoot: Uint8Array }>();
  let parentRoot: Uint8Array = randomBytes(32);
  let tip: Uint8Array = new Uint8Array();
  for (let depth = 0; depth < 100; depth++) {
    // Any validator can sign any number.
    const message = { ...block, slot: current, parentRoot, proposerIndex: depth % 16 } as BeaconBlock;
    tip = blockBytes(byHand.sign(message).signed);
    const root = altair.BeaconBlock.hashTreeRoot(message as never);
    chain.set(toRootHex(root), { bytes: tip, parentRoot });
    parentRoot = root;
  }
  const digest = fromHex(`0x${topic("beacon_block").split("/")[2]}`);
  const given = new Set<string>();
  const give = async (stream: Stream, root: Uint8Array, count: number) => {
    let found = chain.get(toRootHex(root));
    for (let left = count; found && left > 0; left--) {
      stream.send(encodeChunk(found.bytes, digest));
      given.add(toRootHex(found.parentRoot));
      found = chain.get(toRootHex(found.parentRoot));
    }
    await stream.close();
  };
  adversary.behaviours.set("beacon_blocks_by_root", (stream, { body }) => give(stream, body, 1));
  adversary.behaviours.set("beacon_blocks_by_head", (stream, { body }) => {
    const { beaconRoot, count } = fulu.BeaconBlocksByHeadRequest.deserialize(body);
    return give(stream, beaconRoot, Number(count));
  });
  await send(adversary, topic("beacon_block"), [tip]);
  await eventually(() => expect(given.size).toBeGreaterThan(20));
  await eventually(() => expect(scenario.score(adversary)).toBeLessThan(0));
  await scenario.expectFollowing();
  expect(given.size).toBeLessThan(50);
  expect(scenario.victim.networking.sync.isSyncing).toBe(false);
});

it("a genuine block with a forged signature does not block the genuine one", async () => {
  const adversary = await scenario.adversary();
  const { honest, victim, network } = scenario;
  // The victim lacks a block, so it cannot verify the signature of the next.
  const missed = await byHand.propose(await scenario.skipSlot(), honest.chain.head.root);
  const next = byHand.sign(await byHand.produce(await scenario.skipSlot(), missed.root));
  await send(adversary, topic("beacon_block"), [blockBytes({ ...next.signed, signature: foreignSignature() })]);
  await eventually(() => expect(victim.chain.forkChoice.has(missed.root)).toBe(true));
  await eventually(() => expect(scenario.score(adversary)).toBeLessThan(0));
  await honest.chain.importBlock(next.signed);
  await network.clock.advanceTo(network.clock.currentSlot + 1);
  await network.untilSameHead([honest, victim]);
  expect(victim.chain.forkChoice.has(next.root)).toBe(true);
  expect(victim.networking.network.peers.scores.score(honest.peerId)).toBe(0);
  await scenario.expectFollowing();
});

const byRoot = ({ asked }: Adversary) => asked.filter(({ name }) => name === "beacon_blocks_by_root").length;
