import { randomBytes } from "node:crypto";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type gloas, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { compressSync } from "snappy";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { GossipTopics, type TopicKind } from "../../../src/network/gossip/topics.ts";
import { encodeChunk } from "../../../src/network/reqresp/response-chunk.ts";
import { type BlockWithPayload, ByHand } from "../../support/chain/by-hand.ts";
import { variants } from "../../support/suite/tier.ts";
import type { Adversary } from "./support/adversary.ts";
import { eventually, Scenario } from "./support/scenario.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const COUNT = 12;
const { SignedExecutionPayloadEnvelope, SignedExecutionPayloadBid, PayloadAttestationMessage } = ssz.gloas;

let scenario: Scenario;
let byHand: ByHand;
beforeAll(async () => {
  scenario = await Scenario.begin({ forks: [{ fork: "gloas", epoch: 0 }] });
  byHand = new ByHand(scenario.honest);
});
afterAll(async () => {
  const complaints = scenario.complaints();
  await scenario.end();
  // Refusals, and nothing else.
  expect(complaints.filter((line) => !/Rejected (block|payload) from peer/.test(line))).toEqual([]);
});

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const foreignSignature = () => byHand.signer.sign(0, randomBytes(32));

function send(adversary: Adversary, kind: TopicKind, objects: Uint8Array[], subnet?: number) {
  const { config, clock } = scenario.network;
  const { name } = new GossipTopics(config).at(computeEpochAtSlot(clock.currentSlot), kind, subnet)!;
  return adversary.publish(...objects.map((object) => ({ topic: name, data: compressSync(object) })));
}

const sendEnvelope = (adversary: Adversary, envelope: gloas.SignedExecutionPayloadEnvelope) =>
  send(adversary, "execution_payload", [SignedExecutionPayloadEnvelope.serialize(envelope)]);

/** A block of an otherwise empty slot with its payload, both unpublished. */
async function make(parentRoot = scenario.honest.chain.head.root): Promise<BlockWithPayload> {
  return byHand.produceWithPayload(await scenario.skipSlot(), parentRoot);
}

/** The honest node has the block and its payload, unpublished. */
async function keep({ signed, envelope }: BlockWithPayload): Promise<void> {
  await scenario.honest.chain.importBlock(signed);
  await scenario.honest.chain.importPayload(envelope);
}

const publishBlock = (adversary: Adversary, { signed }: BlockWithPayload) =>
  adversary.publishBlock(scenario.network.config, signed);
const statusOf = ({ root }: BlockWithPayload) => scenario.victim.chain.forkChoice.get(root)?.execution.status;

const FORGERIES: [what: string, reason: string, kind: TopicKind, make: () => Promise<Uint8Array[]>][] = [
  [
    "payloads",
    "bad-signature",
    "execution_payload",
    async () => {
      // The payload of the head, as if its builder had signed another time.
      const { head, payloadStore } = scenario.honest.chain;
      const { message } = (await payloadStore.get(head.root))!;
      scenario.victim.chain.pools.seen.payloads.restore({
        ...scenario.victim.chain.pools.seen.payloads.capture(),
        envelopes: new Map(),
      });
      return times(COUNT, () => SignedExecutionPayloadEnvelope.serialize({ message, signature: foreignSignature() }));
    },
  ],
  [
    "votes on payloads",
    "not-in-committee",
    "payload_attestation_message",
    async () => {
      const { head } = scenario.honest.chain;
      const { epochCtx } = await scenario.honest.chain.states.afterBlock(head.root);
      const members = new Set(epochCtx.getPayloadTimelinessCommittee(head.slot));
      const data = {
        beaconBlockRoot: fromHex(head.root),
        slot: head.slot,
        payloadPresent: true,
        blobDataAvailable: true,
      };
      const strangers = times(1_000, (index) => index).filter((index) => !members.has(index));
      return strangers
        .slice(0, COUNT)
        .map((validatorIndex) =>
          PayloadAttestationMessage.serialize({ validatorIndex, data, signature: foreignSignature() }),
        );
    },
  ],
  [
    "bids",
    "wrong-bid",
    "execution_payload_bid",
    async () =>
      times(COUNT, (builderIndex) => {
        const signed = SignedExecutionPayloadBid.defaultValue();
        Object.assign(signed.message, { slot: scenario.network.clock.currentSlot, builderIndex, executionPayment: 1n });
        return SignedExecutionPayloadBid.serialize({ ...signed, signature: foreignSignature() });
      }),
  ],
  [
    "preferences of proposers",
    "wrong-dependent-root",
    "proposer_preferences",
    async () =>
      times(COUNT, (index) => {
        const signed = ssz.gloas.SignedProposerPreferences.defaultValue();
        signed.message.proposalSlot = scenario.network.clock.currentSlot + 1;
        signed.message.validatorIndex = index;
        signed.message.dependentRoot = fromHex(scenario.honest.chain.head.root);
        return ssz.gloas.SignedProposerPreferences.serialize(signed);
      }),
  ],
];

it.each(variants({ fast: FORGERIES.slice(0, 1), full: FORGERIES }))(
  "a peer that broadcasts forged objects is disconnected: %s",
  async (_what, reason, kind, forge) => {
    await scenario.expectFollowing();
    const adversary = await scenario.adversary();
    await send(adversary, kind, await forge());
    await eventually(() => expect(scenario.refusals(adversary)).toContain(reason));
    await scenario.expectSentAway(adversary);
  },
);

it("a payload may arrive before its block; a second one of the builder is ignored", async () => {
  const adversary = await scenario.adversary();
  const made = await make();
  await sendEnvelope(adversary, made.envelope);
  await publishBlock(adversary, made);
  await eventually(() => expect(statusOf(made)).toBe("valid"));
  const { message } = made.envelope;
  const other = { ...message, payload: { ...message.payload, extraData: randomBytes(4) } };
  await sendEnvelope(adversary, byHand.signEnvelope(other, made.signed.message.proposerIndex));
  await scenario.expectFollowing();
  expect(scenario.invalidMessages(adversary)).toBe(0);
});

it("a payload that the next block is built on is requested, even from peers that forge it", async () => {
  const adversary = await scenario.adversary();
  const withheld = await make();
  await keep(withheld);
  const child = await make(withheld.root);
  await keep(child);
  const { config } = scenario.network;
  const epoch = computeEpochAtSlot(withheld.signed.message.slot);
  const digest = config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(epoch));
  const forged = SignedExecutionPayloadEnvelope.serialize({ ...withheld.envelope, signature: foreignSignature() });
  adversary.behaviours.set("execution_payload_envelopes_by_root", async (stream) => {
    stream.send(encodeChunk(forged, digest));
    await stream.close();
  });
  await publishBlock(adversary, withheld);
  await eventually(() => expect(statusOf(withheld)).toBe("absent"));
  await publishBlock(adversary, child);
  await eventually(() => expect(statusOf(withheld)).toBe("valid"));
  await eventually(() => expect(scenario.victim.chain.forkChoice.has(child.root)).toBe(true));
  // The peer that refers to the payload is asked first.
  expect(adversary.asked).toContainEqual({ name: "execution_payload_envelopes_by_root", version: 1 });
  expect(scenario.score(adversary)).toBeLessThan(0);
  await scenario.expectFollowing();
});

it("payloads of nonexistent blocks are bounded, and cause a bounded number of requests", async () => {
  const [adversary, witness] = [await scenario.adversary(), await scenario.adversary()];
  const { envelope } = await make();
  const strays = times(60, () =>
    SignedExecutionPayloadEnvelope.serialize({
      ...envelope,
      message: { ...envelope.message, beaconBlockRoot: randomBytes(32) },
    }),
  );
  await send(adversary, "execution_payload", strays);
  await eventually(() => expect(requestsByRoot(witness)).toBeGreaterThan(0));
  await scenario.expectFollowing();
  await scenario.expectFollowing();
  expect(requestsByRoot(witness)).toBeLessThanOrEqual(4);
  expect(scenario.score(witness)).toBe(0);
});

const requestsByRoot = ({ asked }: Adversary) => asked.filter(({ name }) => name === "beacon_blocks_by_root").length;
