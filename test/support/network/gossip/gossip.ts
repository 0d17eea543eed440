import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { onTestFinished, vi } from "vitest";
import type { DevChain } from "../../../../src/dev/dev-chain.ts";
import { createLogger } from "../../../../src/log/pino-logger.ts";
import { Gossip } from "../../../../src/network/gossip/gossip.ts";
import { asPubsub, createPubsub, type Pubsub } from "../../../../src/network/gossip/pubsub.ts";
import { GossipTopics, type TopicKind } from "../../../../src/network/gossip/topics.ts";
import { createHost, type Host } from "../../../../src/network/libp2p/host.ts";
import type { Severity } from "../../../../src/network/peers/peer-scores.ts";
import type { BeaconNode } from "../../../../src/node/beacon-node.ts";
import type { DevNodeOptions } from "../../../../src/node/dev-node.ts";
import { ByHand } from "../../chain/by-hand.ts";
import { makeHistory, openDevChain, QUIET } from "../../chain/dev-chain.ts";
import { SignedOperations } from "../../chain/signed-operations.ts";
import { tempDirectory } from "../../directories/temp-directory.ts";

export interface GossipNode {
  devChain: DevChain;
  node: BeaconNode;
  host: Host;
  pubsub: Pubsub;
  gossip: Gossip;
  peerId: string;
  byHand: ByHand;
  operations: SignedOperations;
  /** Log lines of level WARN and above. */
  complaints: string[];
  /** Ids of all validated messages. */
  received: string[];
  /** Calls to the unknown block sync and the peer reporter. */
  reported: {
    parents: { signed: SignedBeaconBlock; peerId: string }[];
    blocks: { root: RootHex; peerId: string }[];
    payloads: { root: RootHex; peerId: string }[];
    penalties: { peerId: string; severity: Severity }[];
  };
  /** Returns the topic name in the current epoch. */
  topic(kind: TopicKind, subnet?: number): string;
}

/** Opens nodes with the same history and stopped clocks, connected in a line. */
export async function openLine(
  count: number,
  historySlots: number,
  options: Partial<DevNodeOptions>,
): Promise<GossipNode[]> {
  const history = tempDirectory();
  await makeHistory(historySlots, options, history);
  const nodes: GossipNode[] = [];
  for (let i = 0; i < count; i++) {
    const directory = tempDirectory();
    cpSync(history, directory, { recursive: true });
    const node = await openNode(options, directory);
    const before = nodes.at(-1);
    if (before) await node.host.dial(before.host.getMultiaddrs());
    nodes.push(node);
  }
  return nodes;
}

async function openNode(options: Partial<DevNodeOptions>, directory: string): Promise<GossipNode> {
  const { devChain, node } = await openDevChain({ ...options, ...QUIET }, directory);
  const { chain, config } = devChain;
  const complaints: string[] = [];
  const { logger } = createLogger({
    format: "text",
    spec: "WARN",
    destination: { write: (line) => complaints.push(line) },
  });
  const reported: GossipNode["reported"] = { parents: [], blocks: [], payloads: [], penalties: [] };
  const host = await createHost({
    key: randomBytes(32),
    listen: { address: "127.0.0.1", port: 0 },
    agentVersion: "test",
    maxConnections: 10,
    pubsub: createPubsub({ config, heartbeatInterval: 100 }),
  });
  await host.start();
  const pubsub = asPubsub(host.services.pubsub);
  const gossip = new Gossip({
    pubsub,
    chain,
    unknownBlocks: {
      onUnknownParent: (signed, peerId) => reported.parents.push({ signed, peerId }),
      onUnknownBlock: (root, peerId) => reported.blocks.push({ root, peerId }),
      onUnknownPayload: (root, peerId) => reported.payloads.push({ root, peerId }),
    },
    reporter: { penalize: (peerId, severity) => reported.penalties.push({ peerId, severity }) },
    logger,
  });
  gossip.start();
  onTestFinished(async () => {
    await gossip.close();
    await host.stop();
  });
  const received: string[] = [];
  pubsub.addEventListener("gossipsub:message", ({ detail }) => received.push(detail.msgId));
  const topics = new GossipTopics(config);
  return {
    devChain,
    node,
    host,
    pubsub,
    gossip,
    peerId: host.peerId.toString(),
    byHand: new ByHand(devChain),
    operations: new SignedOperations(devChain),
    complaints,
    received,
    reported,
    topic: (kind, subnet) => topics.at(devChain.clock.currentEpoch, kind, subnet)!.name,
  };
}

/** Retries the assertion with a generous timeout. */
export function eventually(assertion: () => void): Promise<void> {
  return vi.waitFor(assertion, { timeout: 30_000, interval: 10 });
}

/** Resolves when all connected peers are in the node's mesh of the topic. */
export async function whenMeshed(node: GossipNode, topic: string): Promise<void> {
  await eventually(() => {
    // Simultaneous dials leave two connections for a moment.
    const neighbours = node.host.getPeers().length;
    if (neighbours === 0 || node.pubsub.getMeshPeers(topic).length < neighbours) {
      throw new Error(`The mesh of ${topic} is not complete.`);
    }
  });
}

/** Returns how many invalid messages of the topic the node has counted for the peer. */
export function invalidFrom(node: GossipNode, peer: GossipNode, topic: string): number {
  const stats = node.pubsub.dumpPeerScoreStats()[peer.peerId];
  return Math.round(stats?.topics[topic]?.invalidMessageDeliveries ?? 0);
}
