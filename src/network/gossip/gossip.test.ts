import type { RPC } from "@libp2p/gossipsub/message";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type electra, type SingleAttestation, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { compressSync } from "snappy";
import { expect, it, onTestFinished } from "vitest";
import {
  eventually,
  type GossipNode,
  invalidFrom,
  openLine,
  whenMeshed,
} from "../../../test/support/network/gossip/gossip.ts";
import type { ChainEventName } from "../../chain/events.ts";
import type { DevNodeOptions } from "../../node/dev-node.ts";

const ELECTRA: Partial<DevNodeOptions> = { forks: [{ fork: "electra", epoch: 0 }], validators: 8 };
/** A slot in the first epoch that allows voluntary exits. */
const LATE_SLOT = 33;

function next(node: GossipNode, event: ChainEventName): Promise<void> {
  return new Promise((resolve) => {
    onTestFinished(node.devChain.chain.events.on(event, () => resolve()));
  });
}

/** Waits until all received messages have a verdict, including the one sent last. */
async function settledAfterExit(from: GossipNode, at: GossipNode, validator: number): Promise<void> {
  const arrived = next(at, "voluntaryExit");
  from.gossip.voluntaryExit(from.operations.exit(validator));
  await arrived;
}

it("published objects reach all nodes, and invalid ones travel only one hop", async () => {
  const nodes = await openLine(3, 1, ELECTRA);
  const [a, b, c] = nodes as [GossipNode, GossipNode, GossipNode];
  const slot = LATE_SLOT;
  for (const { devChain, gossip } of nodes) {
    await devChain.clock.advanceTo(slot);
    gossip.setAttestationSubnets(new Set(Array.from({ length: 64 }, (_, subnet) => subnet)));
  }
  const exits = a.topic("voluntary_exit");
  await Promise.all(nodes.map((node) => whenMeshed(node, exits)));

  // Publishes a block.
  const imported = Promise.all([next(b, "block"), next(c, "block")]);
  const block = await a.byHand.propose(slot, a.devChain.chain.head.root);
  a.gossip.block(block.signed);
  await imported;
  await eventually(() =>
    expect(nodes.map(({ devChain }) => devChain.chain.head.root)).toEqual(Array(3).fill(block.root)),
  );

  // Publishes an attestation that is valid only on its own subnet.
  const vote = (await a.byHand.attestationsFor(slot, block.root))[0]!.attestation as electra.SingleAttestation;
  const subnet = a.devChain.chain.headState.epochCtx.computeSubnetForSlot(slot, vote.committeeIndex);
  const [right, wrong] = [subnet, (subnet + 1) % 64];
  const subnetTopics = [right, wrong].map((number) => a.topic("beacon_attestation", number));
  await Promise.all(nodes.flatMap((node) => subnetTopics.map((topic) => whenMeshed(node, topic))));
  a.gossip.attestation(vote, wrong);
  const attested = Promise.all([next(b, "attestation"), next(c, "attestation")]);
  a.gossip.attestation(vote, right);
  await attested;
  await eventually(() => expect(invalidFrom(b, a, a.topic("beacon_attestation", wrong))).toBe(1));

  // An attestation to a block from a later slot also travels just one hop, without a penalty.
  const early = (await a.byHand.attestationsFor(slot - 1, block.root))[0]!.attestation as electra.SingleAttestation;
  const earlySubnet = a.devChain.chain.headState.epochCtx.computeSubnetForSlot(slot - 1, early.committeeIndex);
  const earlyTopic = a.topic("beacon_attestation", earlySubnet);
  await Promise.all(nodes.map((node) => whenMeshed(node, earlyTopic)));
  const before = b.received.length;
  a.gossip.attestation(early, earlySubnet);
  await eventually(() => expect(b.received.length).toBe(before + 1));

  // An exit signed by another validator. The valid exit published afterwards proves that it was not forwarded.
  a.gossip.voluntaryExit(a.operations.exit(1, { by: 2 }));
  await settledAfterExit(a, c, 3);
  expect(c.devChain.chain.pools.operations.listVoluntaryExits().map(({ message }) => message.validatorIndex)).toEqual([
    3,
  ]);
  expect(invalidFrom(b, a, exits)).toBe(1);
  expect(invalidFrom(c, b, exits)).toBe(0);
  expect(b.received.length - c.received.length).toBe(3);
  expect(invalidFrom(b, a, earlyTopic)).toBe(0);
  expect(Object.fromEntries(b.gossip.verdicts)).toEqual({
    beacon_block: { accept: 1, ignore: 0, reject: 0 },
    beacon_attestation: { accept: 1, ignore: 1, reject: 1 },
    voluntary_exit: { accept: 1, ignore: 0, reject: 1 },
  });

  // An invalid block is forwarded, since its signature is valid, but the forwarding peer is penalized.
  for (const { devChain } of nodes) await devChain.clock.advanceTo(slot + 1);
  const unfit = { ...(await a.byHand.produce(slot + 1, block.root)), stateRoot: new Uint8Array(32) };
  a.gossip.block(a.byHand.sign(unfit).signed);
  await eventually(() => expect(b.reported.penalties).toEqual([{ peerId: a.peerId, severity: "moderate" }]));
  expect(b.devChain.chain.head.root).toBe(block.root);
  expect([...a.complaints, ...c.complaints.filter((line) => !line.includes("Rejected block from peer"))]).toEqual([]);
});

it("attestations wait for their block, and blocks without a parent are reported", async () => {
  const nodes = await openLine(2, 4, {});
  const [a, b] = nodes as [GossipNode, GossipNode];
  for (const { devChain, gossip } of nodes) {
    await devChain.clock.advanceTo(6);
    gossip.setAttestationSubnets(new Set([...Array(64).keys()]));
  }
  const parent = await a.byHand.propose(5, a.devChain.chain.head.root);
  const child = await a.byHand.propose(6, parent.root);
  const votes = await a.byHand.attestationsFor(6, child.root);
  const { epochCtx } = a.devChain.chain.headState;
  const subnet = epochCtx.computeSubnetForSlot(6, 0);
  await whenMeshed(a, a.topic("beacon_attestation", subnet));
  await whenMeshed(a, a.topic("beacon_block"));

  for (const { attestation } of votes) a.gossip.attestation(attestation as SingleAttestation, subnet);
  a.gossip.block(child.signed);
  await eventually(() => expect(b.reported.parents.length).toBe(1));
  await eventually(() => expect(b.received.length).toBe(votes.length + 1));
  expect(toRootHex(b.reported.parents[0]!.signed.message.parentRoot)).toBe(parent.root);
  await eventually(() => expect(b.reported.blocks).toEqual([{ root: child.root, peerId: a.peerId }]));
  expect(b.devChain.chain.pools.attestations.list({ slot: 6 })).toEqual([]);

  await b.devChain.chain.importBlock(parent.signed);
  await b.devChain.chain.importBlock(child.signed);
  await eventually(() => {
    const pooled = b.devChain.chain.pools.attestations.list({ slot: 6 });
    expect(pooled.flatMap(({ aggregationBits }) => aggregationBits.getTrueBitIndexes()).length).toBe(votes.length);
  });
  expect(b.complaints).toEqual([]);
});

it("an attestation with an unsafe source epoch is ignored, since the gossip rules accept it", async () => {
  const nodes = await openLine(2, 1, ELECTRA);
  const [a, b] = nodes as [GossipNode, GossipNode];
  const subnets = new Set(Array.from({ length: 64 }, (_, subnet) => subnet));
  for (const { gossip } of nodes) gossip.setAttestationSubnets(subnets);
  const [signed] = await a.byHand.attestationsFor(1, a.devChain.chain.head.root);
  const vote = ssz.electra.SingleAttestation.serialize(signed!.attestation as electra.SingleAttestation);
  // Skips committee_index, attester_index, data.slot, data.index and data.beacon_block_root to set the source epoch to
  // 2^53 + 1.
  new DataView(vote.buffer, vote.byteOffset).setBigUint64(4 * 8 + 32, 2n ** 53n + 1n, true);
  const topic = a.topic("beacon_attestation", 1);
  await Promise.all(nodes.map((node) => whenMeshed(node, topic)));
  const envelope = {
    subscriptions: [],
    messages: [{ topic, data: new Uint8Array(compressSync(vote)) }],
    control: undefined,
  };
  (a.pubsub as unknown as { sendRpc(peerId: string, rpc: object): void }).sendRpc(b.peerId, envelope);
  await eventually(() =>
    expect(b.gossip.verdicts.get("beacon_attestation")).toEqual({ accept: 0, ignore: 1, reject: 0 }),
  );
  expect(invalidFrom(b, a, topic)).toBe(0);
});

it("garbage is penalized before it is decoded", async () => {
  const nodes = await openLine(2, 1, {});
  const [a, b] = nodes as [GossipNode, GossipNode];
  const exits = a.topic("voluntary_exit");
  await whenMeshed(a, exits);
  await whenMeshed(b, exits);
  const send = (messages: Partial<RPC.Message>[]) => {
    const envelope = { subscriptions: [], messages, control: undefined };
    (a.pubsub as unknown as { sendRpc(peerId: string, rpc: object): void }).sendRpc(b.peerId, envelope);
  };
  const exit = new Uint8Array(compressSync(new Uint8Array(112)));
  const bomb = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, ...exit.subarray(1));
  send([
    { topic: exits, data: exit, from: a.host.peerId.toMultihash().bytes },
    { topic: exits, data: exit, seqno: new Uint8Array(8) },
    { topic: exits, data: new Uint8Array() },
    { topic: exits, data: bomb },
    { topic: exits, data: Uint8Array.of(112, 1, 2, 3) },
    { topic: exits, data: new Uint8Array(compressSync(new Uint8Array(113))) },
    { topic: "/eth2/00000000/voluntary_exit/ssz_snappy", data: exit },
    { topic: a.topic("beacon_attestation", 7), data: new Uint8Array(compressSync(new Uint8Array(229))) },
  ]);
  await eventually(() => expect(invalidFrom(b, a, exits)).toBe(6));
  expect(b.received).toEqual([]);
  expect([...b.gossip.verdicts]).toEqual([["voluntary_exit", { accept: 0, ignore: 0, reject: 6 }]]);

  // If the epoch were rounded, this exit would have the same root as an exit at epoch 0, whose signature would match.
  const beyondNumbers = ssz.phase0.SignedVoluntaryExit.serialize(a.operations.exit(5)).fill(0xff, 0, 8);
  send([{ topic: exits, data: new Uint8Array(compressSync(beyondNumbers)) }]);
  await eventually(() => expect(invalidFrom(b, a, exits)).toBe(7));

  // A message whose size is valid but that is not a block is rejected by validation.
  const blocks = a.topic("beacon_block");
  send([{ topic: blocks, data: new Uint8Array(compressSync(new Uint8Array(1000))) }]);
  await eventually(() => expect(invalidFrom(b, a, blocks)).toBe(1));
  expect(b.gossip.verdicts.get("beacon_block")).toEqual({ accept: 0, ignore: 0, reject: 1 });

  const { streamsOutbound } = a.pubsub as unknown as { streamsOutbound: Map<string, { push(data: Uint8Array): void }> };
  streamsOutbound.get(b.peerId)!.push(new Uint8Array(50).fill(0xff));
  await eventually(() => {
    const { behaviourPenalty } = b.pubsub.dumpPeerScoreStats()[a.peerId]!;
    expect(Math.round(behaviourPenalty)).toBe(1);
  });

  // A flood of messages is an offence, whatever they contain.
  const flood = Array.from({ length: 5000 }, () => ({ topic: "flood", data: Uint8Array.of(0) }));
  for (let i = 0; i < 5; i++) send(flood);
  await eventually(() => {
    const { behaviourPenalty } = b.pubsub.dumpPeerScoreStats()[a.peerId]!;
    expect(Math.round(behaviourPenalty)).toBeGreaterThan(2);
  });
  expect(b.complaints).toEqual([]);
});

it("the subscriptions follow the forks and the subnets", async () => {
  const [node] = (await openLine(1, 1, { forks: [{ fork: "altair", epoch: 2 }] })) as [GossipNode];
  const { clock } = node.devChain;
  const joined = (name: string) => node.pubsub.getTopics().filter((topic) => topic.split("/")[3] === name).length;
  const counts = () => ["beacon_block", "beacon_attestation_3", "sync_committee_1"].map(joined);
  node.gossip.setAttestationSubnets(new Set([3]));
  node.gossip.setSyncSubnets(new Set([1]));
  expect(counts()).toEqual([1, 1, 0]);
  await clock.advanceTo(SLOTS_PER_EPOCH);
  expect(counts()).toEqual([2, 2, 1]);
  node.gossip.setAttestationSubnets(new Set());
  expect(counts()).toEqual([2, 0, 1]);
  await clock.advanceTo(4 * SLOTS_PER_EPOCH);
  expect(counts()).toEqual([1, 0, 1]);
  expect(node.pubsub.getTopics()).toContain(node.topic("sync_committee", 1));
});
