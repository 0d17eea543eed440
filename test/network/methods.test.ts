import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import { DOMAIN_AGGREGATE_AND_PROOF, DOMAIN_SELECTION_PROOF, SLOTS_PER_EPOCH } from "@lodestar/params";
import { isAggregatorFromCommitteeLength } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { TestNetwork, until } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const VALIDATORS = 64;
/** Validators may exit after four epochs. */
const SLOT = 4 * SLOTS_PER_EPOCH;
const GOSSIP = "debug_getGossipSubPeers";

let network: TestNetwork;
/** Dials the other node. */
let here: TestNode;
let there: TestNode;
let callHere: Caller;
let callThere: Caller;
let byHand: ByHand;
beforeEach(async () => {
  network = new TestNetwork({ validators: VALIDATORS });
  // Later nodes wait for a peer with a block.
  await network.clock.advanceTo(SLOT - 1);
  there = await network.add([]);
  here = await network.add([], [there]);
  await network.untilConnected();
  await network.clock.advanceTo(SLOT);
  callHere = new Caller(here.api);
  callThere = new Caller(there.api);
  byHand = new ByHand(here);
});

const arrived = (name: Parameters<TestNode["chain"]["events"]["on"]>[0], isThere: () => boolean) =>
  until((wake) => there.chain.events.on(name, wake), isThere);

describe("two nodes that are connected", () => {
  it("report the same connection from both ends", async () => {
    const idHere = await callHere.call("getNetworkPeerId");
    const idThere = await callThere.call("getNetworkPeerId");
    const [outbound] = await callHere.call("get_v1_node_peers", [["connected"], ["outbound"]]);
    const [inbound] = await callThere.call("get_v1_node_peers", [["connected"], ["inbound"]]);
    expect(outbound).toMatchObject({ peer_id: idThere, state: "connected", direction: "outbound" });
    expect(inbound).toMatchObject({ peer_id: idHere, state: "connected", direction: "inbound" });
    expect(outbound.last_seen_p2p_address).toBe(there.address);
    expect(await callHere.call("get_v1_node_peers", [["connected"], ["inbound"]])).toEqual([]);
    expect(await callHere.call("get_v1_node_peers_peerId", [idThere])).toEqual(outbound);

    for (const caller of [callHere, callThere]) {
      const all = await caller.call("get_v1_node_peers");
      const counts: Record<string, string> = await caller.call("get_v1_node_peer_count");
      expect(counts).toEqual({ disconnected: "0", connecting: "0", connected: "1", disconnecting: "0" });
      expect(all).toHaveLength(1);
      const { peers } = await caller.call("peers");
      expect(peers[0]).toMatchObject({ id: all[0].peer_id, connectionState: "Connected" });
      expect(peers[0].info.agentVersion).toBe(await caller.call("getNodeVersion"));
      expect(peers[0].info.protocols).toContain("/eth2/beacon_chain/req/status/1/ssz_snappy");
      expect(await caller.call("getNetworkPeers")).toEqual([all[0].peer_id]);
    }
  });

  it("report their listening addresses, with a consistent id", async () => {
    const identity = await callThere.call("get_v1_node_identity");
    expect(identity.peer_id).toBe(await callThere.call("getNetworkPeerId"));
    expect(identity.enr).toBe(await callThere.call("getNetworkEnr"));
    expect(identity.p2p_addresses).toEqual([there.address]);
    expect(there.address.endsWith(`/p2p/${identity.peer_id}`)).toBe(true);
    // The long-lived subnets of the node id are announced from the start.
    expect(Number(identity.metadata.seq_number)).toBeGreaterThan(0);
    expect(BigInt(identity.metadata.attnets)).toBeGreaterThan(0n);
  });

  it("list the peers of each topic of the current fork, and the mesh peers", async () => {
    const { config } = here;
    const digest = toHex(config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(4))).slice(2);
    const { gossipsub, mesh, peerStats, allPeers } = await callHere.call(GOSSIP);
    expect(Object.keys(gossipsub)).toContain(`/eth2/${digest}/beacon_block/ssz_snappy`);
    for (const topic of [...Object.keys(gossipsub), ...Object.keys(mesh)]) expect(topic).toContain(`/eth2/${digest}/`);
    for (const [topic, peers] of Object.entries<{ peerId: string }[]>(mesh)) {
      const subscribed = (gossipsub[topic] ?? []).map((peer: { peerId: string }) => peer.peerId);
      expect(subscribed).toEqual(expect.arrayContaining(peers.map(({ peerId }) => peerId)));
    }
    expect(allPeers).toEqual([{ connected: true, peerId: there.peerId }]);
    expect(peerStats).toMatchObject([{ peerId: there.peerId, null: false, connected: true }]);
  });
});

describe("an object posted at one node", () => {
  it("reaches the other: a block and a voluntary exit", async () => {
    const { signed, root } = byHand.sign(await byHand.produce(SLOT, here.chain.head.root));
    await callHere.call("post_v1_beacon_blocks", [
      ssz.phase0.SignedBeaconBlock.toJson(signed as phase0.SignedBeaconBlock),
    ]);
    await arrived("block", () => there.chain.forkChoice.has(root));
    expect(await callThere.call("get_v1_beacon_headers_blockId", ["head"])).toMatchObject({ root });

    const exit = ssz.phase0.SignedVoluntaryExit.toJson(new SignedOperations(here).exit(3));
    await callHere.call("post_v1_beacon_pool_voluntary_exits", [exit]);
    await arrived("voluntaryExit", () => there.chain.pools.operations.listVoluntaryExits().length > 0);
    expect(await callThere.call("get_v1_beacon_pool_voluntary_exits")).toEqual([exit]);
  });

  it("reaches the other: attestations, on the aggregator's node", async () => {
    const { data, committee, aggregator } = await committeeWithAggregator();
    const [topic] = await subscribeThere(data, aggregator);
    const attestations = committee.map((validator, position) => ({
      aggregationBits: BitArray.fromSingleBit(committee.length, position),
      data,
      signature: byHand.signAttestation(validator, data),
    }));
    await callHere.call(
      "post_v1_beacon_pool_attestations",
      attestations.map((attestation) => ssz.phase0.Attestation.toJson(attestation)),
    );
    const root = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
    const held = () => there.chain.pools.attestations.list({ slot: SLOT }).length > 0;
    await arrived("attestation", held);
    await until(
      (wake) => there.chain.events.on("attestation", wake),
      () =>
        there.chain.pools.attestations.list({ slot: SLOT })[0]!.aggregationBits.getTrueBitIndexes().length ===
        committee.length,
    );
    const aggregate = await callThere.call("get_v1_validator_aggregate_attestation", [SLOT, root]);
    expect(aggregate.aggregation_bits).toBe(
      ssz.phase0.Attestation.toJson({ ...attestations[0]!, aggregationBits: everybody(committee) }).aggregation_bits,
    );

    await network.clock.advanceTo(SLOT + 2);
    expect(Object.keys((await callThere.call(GOSSIP)).mesh)).not.toContain(topic);
  });

  it("reaches the other: an aggregate", async () => {
    const { data, committee, aggregator } = await committeeWithAggregator();
    const type = ssz.phase0.AggregateAndProof;
    const message: phase0.AggregateAndProof = {
      aggregatorIndex: aggregator,
      aggregate: {
        aggregationBits: everybody(committee),
        data,
        signature: aggregateSerializedSignatures(
          committee.map((validator) => byHand.signAttestation(validator, data)),
        ).toBytes(),
      },
      selectionProof: selectionProof(aggregator),
    };
    const signingRoot = byHand.signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, SLOT);
    const signed = { message, signature: byHand.signer.sign(aggregator, signingRoot) };
    await callHere.call("post_v1_validator_aggregate_and_proofs", [ssz.phase0.SignedAggregateAndProof.toJson(signed)]);
    await arrived("attestation", () => there.chain.pools.attestations.list({ slot: SLOT }).length > 0);
  });
});

const everybody = (committee: readonly number[]) => BitArray.fromBoolArray(committee.map(() => true));

function selectionProof(validator: number): Uint8Array {
  const signingRoot = byHand.signer.signingRoot(ssz.Slot, SLOT, DOMAIN_SELECTION_PROOF, SLOT);
  return byHand.signer.sign(validator, signingRoot);
}

/** A committee of the current slot, its attestation data, and an aggregator. */
async function committeeWithAggregator() {
  const { epochCtx } = await here.chain.states.afterBlock(here.chain.head.root, SLOT);
  for (let index = 0; index < epochCtx.getCommitteeCountPerSlot(SLOT / SLOTS_PER_EPOCH); index++) {
    const committee = Array.from(epochCtx.getBeaconCommittee(SLOT, index));
    const aggregator = committee.find((validator) =>
      isAggregatorFromCommitteeLength(committee.length, selectionProof(validator)),
    );
    if (aggregator === undefined) continue;
    const json = await callHere.call("get_v1_validator_attestation_data", [SLOT, index]);
    return { data: ssz.phase0.AttestationData.fromJson(json), committee, aggregator };
  }
  throw new Error("Nobody is to aggregate in this slot.");
}

/** Subscribes the other node to the committee's subnet, and waits until this node knows. */
async function subscribeThere({ index }: phase0.AttestationData, aggregator: number): Promise<string[]> {
  const before = Object.keys((await callThere.call(GOSSIP)).mesh);
  const { epochCtx } = await there.chain.states.afterBlock(there.chain.head.root, SLOT);
  const subscription = {
    validator_index: String(aggregator),
    committee_index: String(index),
    committees_at_slot: String(epochCtx.getCommitteeCountPerSlot(SLOT / SLOTS_PER_EPOCH)),
    slot: String(SLOT),
    is_aggregator: true,
  };
  // Twice, because a repetition is harmless.
  for (let i = 0; i < 2; i++) await callThere.call("post_v1_validator_beacon_committee_subscriptions", [subscription]);
  const joined = Object.keys((await callThere.call(GOSSIP)).mesh).filter((topic) => !before.includes(topic));
  expect(joined).toHaveLength(1);
  const { pubsub } = here.networking.network.host.services;
  await until(
    (wake) => {
      pubsub.addEventListener("subscription-change", wake);
      return () => pubsub.removeEventListener("subscription-change", wake);
    },
    () => pubsub.getSubscribers(joined[0]!).length > 0,
  );
  return joined;
}
