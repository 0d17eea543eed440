import { DOMAIN_BEACON_PROPOSER, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  getExecutionPayloadBidSigningRoot,
  getExecutionPayloadEnvelopeSigningRoot,
  getPayloadAttestationDataSigningRoot,
  getProposerPreferencesSigningRoot,
} from "@lodestar/state-transition";
import { type gloas, type RootHex, ssz } from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import { builderKeys } from "../../../src/dev/builder-keys.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../../support/api/caller.ts";
import { fakeNetwork } from "../../support/api/fake-chain.ts";
import { RecordingBroadcast } from "../../support/api/recording-broadcast.ts";
import { serveApi } from "../../support/api/served-api.ts";
import { GloasChain } from "../../support/chain/gloas-chain.ts";
import { FakeKzg } from "../../support/data/kzg/fake-kzg.ts";
import { Client } from "../../support/server/jsonrpc/websocket/client.ts";

const REJECTED = -32003;
const NOT_FOUND = -32001;
const GENESIS_TIME = 1_700_000_000;
const BUILDER_BALANCE = 100_000_000_000;

const BLOCKS = "post_v2_beacon_blocks";
const ENVELOPES = "post_v1_beacon_execution_payload_envelopes";
const BIDS = "post_v1_beacon_execution_payload_bids";
const VOTES = "post_v1_beacon_pool_payload_attestations";
const PREFERENCES = "post_v1_validator_proposer_preferences";

/** A validator client and a builder, which know a node by its API alone. */
class Outside {
  readonly gloas: GloasChain;
  readonly broadcast = new RecordingBroadcast();
  readonly api: ReturnType<typeof createApi>;
  readonly caller: Caller;

  constructor(gloas: GloasChain) {
    const { chain } = gloas;
    this.gloas = gloas;
    this.api = createApi({ chain, network: fakeNetwork(chain), broadcast: this.broadcast, setLogSpec: () => {} });
    this.caller = new Caller(this.api);
  }

  static async of(options: Partial<DevNodeOptions> = {}): Promise<Outside> {
    return new Outside(await GloasChain.open({ genesisTime: GENESIS_TIME, ...options }));
  }

  /** Kinds of the messages since the last call. */
  get sent(): string[] {
    return this.broadcast.take().map(({ kind }) => kind);
  }

  /** Requests a block for the current slot. */
  async produce(includePayload: boolean, boostFactor = "100") {
    const { chain, signer } = this.gloas;
    const slot = chain.clock.currentSlot;
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
    const duties = await this.caller.call("get_v1_validator_duties_proposer", [epoch]);
    const proposer = Number(duties[slot % SLOTS_PER_EPOCH].validator_index);
    const randaoReveal = toHex(signer.randaoReveal(proposer, slot));
    const params = [slot, randaoReveal, null, false, includePayload, boostFactor];
    const data = await this.caller.call("get_v4_validator_blocks_slot", params);
    const { execution_payload_included: isIncluded } = (await this.caller.meta(
      "get_v4_validator_blocks_slot",
      params,
    ))!;
    const block = ssz.gloas.BeaconBlock.fromJson(isIncluded ? data.block : data);
    const blockRoot = ssz.gloas.BeaconBlock.hashTreeRoot(block);
    const signature = signer.sign(proposer, signer.signingRoot(ssz.Root, blockRoot, DOMAIN_BEACON_PROPOSER, slot));
    const signed = ssz.gloas.SignedBeaconBlock.toJson({ message: block, signature });
    return { slot, proposer, data, isIncluded, block, signed, root: toRootHex(blockRoot) };
  }

  async envelopeOf(slot: number, root: RootHex): Promise<gloas.ExecutionPayloadEnvelope> {
    const method = "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot";
    return ssz.gloas.ExecutionPayloadEnvelope.fromJson(await this.caller.call(method, [slot, root]));
  }

  signEnvelope(envelope: gloas.ExecutionPayloadEnvelope, by: number): Record<string, unknown> {
    return ssz.gloas.SignedExecutionPayloadEnvelope.toJson(this.gloas.signEnvelope(envelope, by)) as never;
  }

  preferences(
    slot: number,
    changes: Pick<gloas.ProposerPreferences, "dependentRoot"> & Partial<gloas.ProposerPreferences>,
  ) {
    const { chain, signer } = this.gloas;
    const validatorIndex = chain.headState.epochCtx.getBeaconProposer(slot);
    const message: gloas.ProposerPreferences = {
      proposalSlot: slot,
      validatorIndex,
      feeRecipient: new Uint8Array(20).fill(0xaa),
      targetGasLimit: 30_000_000n,
      ...changes,
    };
    const signature = signer.sign(validatorIndex, getProposerPreferencesSigningRoot(chain.config, message));
    return ssz.gloas.SignedProposerPreferences.toJson({ message, signature });
  }
}

it("a self-built payload kept by the node is revealed with its blobs, which the node attaches", async () => {
  const client = await Outside.of({ devBlobs: { min: 2, max: 2 } });
  const { gloas, caller } = client;
  await gloas.nextSlot();
  const { slot, proposer, isIncluded, block, signed, root } = await client.produce(false);
  expect(isIncluded).toBe(false);
  expect(block.body.signedExecutionPayloadBid.message.blobKzgCommitments.length).toBe(2);
  expect(await caller.call(BLOCKS, [signed])).toBe(200);
  expect(client.sent).toEqual(["block"]);
  expect(gloas.head).toEqual([1, "empty"]);

  const envelope = await client.envelopeOf(slot, root);
  const wrong = client.signEnvelope(envelope, (proposer + 1) % 8);
  expect(await caller.error(ENVELOPES, [wrong, "gossip", "gloas", false])).toMatchObject({ code: REJECTED });
  expect(client.sent).toEqual([]);
  const good = client.signEnvelope(envelope, proposer);
  expect(await caller.error(ENVELOPES, [good, "gossip", "gloas", true])).toMatchObject({
    message: expect.stringContaining("the envelope was sent without blobs"),
  });
  expect(await caller.call(ENVELOPES, [good, "gossip", "gloas", false])).toBe(200);
  expect(client.sent).toEqual(["sidecars", "payload"]);
  expect(gloas.head).toEqual([1, "full"]);
  // A repeated publication succeeds, and is not broadcast again.
  expect(await caller.call(ENVELOPES, [good, "consensus_and_equivocation"])).toBe(200);
  expect(client.sent).not.toContain("payload");
  const method = "get_v1_validator_execution_payload_envelopes_slot_beaconBlockRoot";
  expect(await caller.error(method, [slot + 1, root])).toMatchObject({ code: NOT_FOUND });
});

it("a payload that was included is published on any node, with its blobs", async () => {
  const [producer, other] = [
    await Outside.of({ devBlobs: { min: 1, max: 1 } }),
    // The cryptography of blobs would take most of the test's time.
    await Outside.of({ chainTuning: { kzg: Object.assign(new FakeKzg(), { verifyCells: async () => true }) } }),
  ];
  await producer.gloas.nextSlot();
  await other.gloas.nextSlot();
  const { data, isIncluded, signed, proposer } = await producer.produce(true);
  expect(isIncluded).toBe(true);
  expect(data.blobs.length).toBe(1);
  const envelope = producer.signEnvelope(
    ssz.gloas.ExecutionPayloadEnvelope.fromJson(data.execution_payload_envelope),
    proposer,
  );
  const { caller, gloas } = other;
  expect(await caller.error(ENVELOPES, [envelope])).toMatchObject({
    code: REJECTED,
    message: expect.stringContaining("unknown block"),
  });
  expect(await caller.call(BLOCKS, [signed, "consensus_and_equivocation", "gloas"])).toBe(200);
  expect(await caller.error(ENVELOPES, [envelope])).toMatchObject({
    code: REJECTED,
    message: expect.stringContaining("send the envelope with the blobs and proofs"),
  });
  const contents = {
    signed_execution_payload_envelope: envelope,
    kzg_proofs: data.kzg_proofs,
    blobs: data.blobs,
  };
  expect(await caller.error(ENVELOPES, [{ ...contents, blobs: [] }])).toMatchObject({
    message: expect.stringContaining("The block commits to 1 blobs"),
  });
  expect(other.sent).toEqual(["block"]);
  expect(gloas.head).toEqual([1, "empty"]);
  expect(await caller.call(ENVELOPES, [contents, "consensus", "gloas", true])).toBe(200);
  expect(other.sent).toEqual(["sidecars", "payload"]);
  expect(gloas.head).toEqual([1, "full"]);
});

it("an envelope is validated as far as the caller wants", async () => {
  const client = await Outside.of();
  const { gloas, caller } = client;
  await gloas.nextSlot();
  const first = await client.produce(false);
  await caller.call(BLOCKS, [first.signed]);
  const envelope = await client.envelopeOf(first.slot, first.root);
  // The gossip rules do not cover the time of the payload.
  const late = structuredClone(envelope);
  late.payload.timestamp += 1;
  const signed = client.signEnvelope(late, first.proposer);
  client.broadcast.take();
  expect(await caller.error(ENVELOPES, [signed, "consensus"])).toMatchObject({
    code: REJECTED,
    message: expect.stringContaining("its timestamp is"),
  });
  expect(client.sent).toEqual([]);
  expect(await caller.call(ENVELOPES, [signed])).toBe(202);
  expect(client.sent).toEqual(["payload"]);

  // The proposer's second block is imported without the API, as from a peer.
  const second = await gloas.make(gloas.chain.head.parentRoot);
  await gloas.chain.importBlock({ ...second.signed, message: second.block });
  if (second.root !== first.root) {
    const reveal = client.signEnvelope(envelope, first.proposer);
    expect(await caller.error(ENVELOPES, [reveal, "consensus_and_equivocation"])).toMatchObject({
      message: expect.stringContaining("has proposed two blocks"),
    });
  }
  expect(await caller.call(ENVELOPES, [client.signEnvelope(envelope, first.proposer), "consensus"])).toBe(200);
});

it("votes count in fork choice, and the next block includes them", async () => {
  const client = await Outside.of();
  const { gloas, caller } = client;
  const { chain, signer } = gloas;
  const slot = await gloas.nextSlot();
  const { signed, root, proposer } = await client.produce(false);
  await caller.call(BLOCKS, [signed]);
  await caller.call(ENVELOPES, [client.signEnvelope(await client.envelopeOf(slot, root), proposer)]);
  client.broadcast.take();
  const data = await caller.call("get_v1_validator_payload_attestation_data", [slot]);
  const duties = await caller.call("post_v1_validator_duties_ptc_epoch", [0, [...Array(16).keys()].map(String)]);
  const members = duties.filter((duty: { slot: string }) => duty.slot === String(slot));
  const value = ssz.gloas.PayloadAttestationData.fromJson(data);
  const signingRoot = getPayloadAttestationDataSigningRoot(chain.config, value);
  const votes = members.map(({ validator_index: index }: { validator_index: string }) => ({
    validator_index: index,
    data,
    signature: toHex(signer.sign(Number(index), signingRoot)),
  }));
  const [first, ...others] = votes;
  const forged = { ...first, signature: others[0].signature };
  expect(await caller.error(VOTES, [[forged, ...others]])).toMatchObject({
    code: REJECTED,
    data: { failures: [{ index: 0, message: expect.stringContaining("is not signed by validator") }] },
  });
  expect(client.sent).toEqual(others.map(() => "payloadAttestation"));
  expect(await caller.call(VOTES, [votes])).toBe(true);
  expect(client.sent).toEqual(["payloadAttestation"]);
  expect(chain.forkChoice.payloadTimeliness(root, true)).toBe(true);

  await gloas.nextSlot();
  const { block } = await client.produce(false);
  const [included] = block.body.payloadAttestations;
  expect(ssz.gloas.PayloadAttestationData.toJson(included!.data)).toEqual(data);
  expect(included!.aggregationBits.getTrueBitIndexes().length).toBe(16);
});

it("a builder bids over the API, the proposer takes its bid, and it reveals the payload", async () => {
  const client = await Outside.of({ builders: { count: 1, balance: BUILDER_BALANCE } });
  const { gloas, caller } = client;
  const { chain } = gloas;
  await gloas.run(4 * SLOTS_PER_EPOCH);
  const { jsonRpcUrl, close } = await serveApi(client.api);
  onTestFinished(close);
  const listener = await Client.connect(jsonRpcUrl);
  await listener.subscribe(["execution_payload_bid", "proposer_preferences"] as never);
  const slot = chain.clock.currentSlot + 1;
  const bidMethod = "get_v1_validator_execution_payload_bids_slot_builderIndex";
  const dependentRoot = fromHex((await chain.blocks.rootAtOrBefore(3 * SLOTS_PER_EPOCH - 1))!);
  const preferences = client.preferences(slot, { dependentRoot });
  expect(await caller.call(PREFERENCES, [[preferences], "gloas"])).toBe(true);
  expect(client.sent).toEqual(["proposerPreferences"]);
  await gloas.nextSlot();

  const keys = builderKeys(1);
  const offered = ssz.gloas.ExecutionPayloadBid.fromJson(await caller.call(bidMethod, [slot, 0]));
  expect(toHex(offered.feeRecipient)).toBe(`0x${"aa".repeat(20)}`);
  const message = { ...offered, value: 5_000_000 };
  const signature = keys.secretKey(0)!.sign(getExecutionPayloadBidSigningRoot(chain.config, message)).toBytes();
  const bid = ssz.gloas.SignedExecutionPayloadBid.toJson({ message, signature });
  const cheap = { ...(bid as object), message: { ...(bid as { message: object }).message, value: "6000000" } };
  expect(await caller.error(BIDS, [cheap])).toMatchObject({
    message: expect.stringContaining("is not signed by builder"),
  });
  expect(await caller.call(BIDS, [bid, "gloas"])).toBe(true);
  expect(client.sent).toEqual(["executionBid"]);
  expect((await listener.notifications.take(2)).map(({ topic, data }) => ({ topic, data }))).toEqual([
    { topic: "proposer_preferences", data: { version: "gloas", data: preferences } },
    { topic: "execution_payload_bid", data: { version: "gloas", data: bid } },
  ]);

  // A factor of 0 prefers the local payload.
  expect((await client.produce(true, "0")).isIncluded).toBe(true);
  const taken = await client.produce(true);
  expect(taken.isIncluded).toBe(false);
  expect(taken.block.body.signedExecutionPayloadBid.message.builderIndex).toBe(0);
  expect(await caller.call(BLOCKS, [taken.signed])).toBe(200);
  const envelope = await client.envelopeOf(slot, taken.root);
  expect(envelope.builderIndex).toBe(0);
  const reveal = gloas.signEnvelope(envelope, taken.proposer);
  expect(await caller.error(ENVELOPES, [ssz.gloas.SignedExecutionPayloadEnvelope.toJson(reveal)])).toMatchObject({
    code: REJECTED,
  });
  const envelopeRoot = getExecutionPayloadEnvelopeSigningRoot(chain.config, envelope);
  const byBuilder = { message: envelope, signature: keys.secretKey(0)!.sign(envelopeRoot).toBytes() };
  const json = ssz.gloas.SignedExecutionPayloadEnvelope.toJson(byBuilder);
  expect(await caller.call(ENVELOPES, [json, "consensus"])).toBe(200);
  expect(gloas.head).toEqual([slot, "full"]);
});

it("preferences determine the fee recipient and the gas limit of a self-built payload", async () => {
  const client = await Outside.of();
  const { gloas, caller } = client;
  await gloas.run(2 * SLOTS_PER_EPOCH);
  const slot = 2 * SLOTS_PER_EPOCH + 1;
  const dependentRoot = fromHex((await gloas.chain.blocks.rootAtOrBefore(SLOTS_PER_EPOCH - 1))!);
  await caller.call(PREFERENCES, [[client.preferences(slot, { dependentRoot })]]);
  const other = client.preferences(slot, { dependentRoot, feeRecipient: new Uint8Array(20).fill(0xbb) });
  // Only the first ones count.
  expect(await caller.call(PREFERENCES, [[other]])).toBe(true);
  await gloas.nextSlot();
  const { data } = await client.produce(true);
  expect(data.execution_payload_envelope.payload.fee_recipient).toBe(`0x${"aa".repeat(20)}`);
  const stranger = client.preferences(slot + 2, { dependentRoot, validatorIndex: 99 });
  expect(await caller.error(PREFERENCES, [[stranger]])).toMatchObject({ code: REJECTED });
});
