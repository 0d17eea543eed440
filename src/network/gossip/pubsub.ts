import { type GossipSub, gossipsub, StrictNoSign, type TopicValidatorResult } from "@libp2p/gossipsub";
import type { PeerScoreParams, PeerScoreStatsDump, PeerScoreThresholds } from "@libp2p/gossipsub/score";
import type { PublishOpts } from "@libp2p/gossipsub/types";
import type { Connection, PeerId, Stream } from "@libp2p/interface";
import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { PeerReporter } from "../peers/peer-scores.ts";
import { maxCompressedLength } from "../snappy-length.ts";
import { guardInbound } from "./inbound-guard.ts";
import { MessageBudget } from "./message-budget.ts";
import { createMessageId, createSnappyTransform, quickId } from "./message-encoding.ts";
import {
  MESH_PEERS,
  SCORE_THRESHOLDS,
  type ScoreOptions,
  scoreParameters,
  topicExpectations,
} from "./score-parameters.ts";
import { GossipTopics } from "./topics.ts";

interface RawStream {
  rawStream: Pick<Stream, "status" | "remoteWriteStatus">;
}

interface ScoredPeer {
  connected: boolean;
  /** When the score of a peer that is gone is forgotten, in unix milliseconds. */
  expire: number;
  behaviourPenalty: number;
}

/** What gossipsub has beyond the interface that its package shows; ids are in base58btc throughout. */
export interface GossipInternals {
  readonly peers: ReadonlyMap<string, PeerId>;
  /** Of all topics that a peer subscribed to. */
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
  readonly mesh: ReadonlyMap<string, ReadonlySet<string>>;
  readonly streamsInbound: ReadonlyMap<string, RawStream>;
  readonly streamsOutbound: ReadonlyMap<string, RawStream>;
  /** Whether it was we who dialled. */
  readonly outbound: ReadonlyMap<string, boolean>;
  /** IHAVE messages that came since the last heartbeat, and IWANT messages. */
  readonly peerhave: ReadonlyMap<string, number>;
  readonly iwantCounts: ReadonlyMap<string, number>;
  /** Until when, in unix milliseconds, a peer is not asked into the mesh of a topic. */
  readonly backoff: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The messages of the last heartbeats, by their ids. */
  readonly mcache: { readonly msgs: ReadonlyMap<string, unknown> };
  readonly score: {
    rejectInvalidMessage(peerId: string, topic: string): void;
    readonly params: PeerScoreParams;
    readonly peerStats: ReadonlyMap<string, ScoredPeer>;
    readonly peerIPs: ReadonlyMap<string, ReadonlySet<string>>;
  };
  readonly opts: { readonly scoreThresholds: Partial<PeerScoreThresholds> };
  /** Up to a heartbeat old. */
  getScore(peerId: string): number;
  getMeshPeers(topic: string): string[];
  /** Opens a stream to the peer, unless there is one. */
  onPeerConnected(peerId: PeerId, connection: Connection): void;
  dumpPeerScoreStats(): PeerScoreStatsDump;
}

export interface Pubsub extends GossipSub, GossipInternals {
  /** How many messages of each topic were refused before they were decoded. */
  readonly refused: ReadonlyMap<string, number>;
  /** The peer id has to be the text: with an object the score stays as it was. */
  reportMessageValidationResult(messageId: string, peerId: string, result: TopicValidatorResult): void;
  publish(topic: string, data: Uint8Array, options?: PublishOpts): ReturnType<GossipSub["publish"]>;
}

/** The service of a host that `createPubsub` made, seen whole. */
export function asPubsub(service: GossipSub): Pubsub {
  return service as Pubsub;
}

interface PubsubOptions extends Partial<ScoreOptions> {
  config: BeaconConfig;
  /** Told about what gossip's own scores leave out. */
  reporter?: PeerReporter;
  /** In milliseconds; the specification's value by default. */
  heartbeatInterval?: number;
}

const HEARTBEAT_MS = 700;
/** Holds one message of the largest size; a peer that reads so slowly misses some. */
const MAX_OUTBOUND_BUFFER_BYTES = 16 << 20;
/** Beside a message of the largest size, for what the protocol adds: phase0/p2p-interface.md `max_message_size`. */
const ENVELOPE_BYTES = 1024;
const DEFAULT_ACTIVE_VALIDATORS = 16_384;

/** Makes gossipsub as Ethereum uses it: phase0/p2p-interface.md, The gossip domain. */
export function createPubsub({
  config,
  heartbeatInterval = HEARTBEAT_MS,
  activeValidators = DEFAULT_ACTIVE_VALIDATORS,
  appSpecificScore,
  reporter,
}: PubsubOptions) {
  const topics = new GossipTopics(config);
  const refused = new Map<string, number>();
  const onRefused = (topic: string) => void refused.set(topic, (refused.get(topic) ?? 0) + 1);
  const create = gossipsub({
    D: MESH_PEERS,
    Dlo: 6,
    Dhi: 12,
    Dlazy: 6,
    heartbeatInterval,
    fanoutTTL: 60_000,
    mcacheLength: 6,
    mcacheGossip: 3,
    seenTTL: config.SLOT_DURATION_MS * SLOTS_PER_EPOCH * 2,
    globalSignaturePolicy: StrictNoSign,
    asyncValidation: true,
    msgIdFn: createMessageId(topics),
    msgIdToStrFn: (id) => Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("base64"),
    fastMsgIdFn: quickId,
    dataTransform: createSnappyTransform(topics, config, onRefused),
    // Subscriptions of others to anything else are not remembered.
    allowedTopics: new Set(Array.from(topics.all(), ({ name }) => name)),
    maxInboundDataLength: maxCompressedLength(config.MAX_PAYLOAD_SIZE) + ENVELOPE_BYTES,
    maxOutboundBufferSize: MAX_OUTBOUND_BUFFER_BYTES,
    maxInboundStreams: 4,
    maxOutboundStreams: 4,
    fallbackToFloodsub: false,
    floodPublish: false,
    doPX: false,
    // Nobody to tell and somebody having told already are no failures of who publishes.
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    // A loaded machine answers late, which is no broken promise.
    gossipsubIWantFollowupMs: 12_000,
    scoreParams: scoreParameters(config, topics, { activeValidators, appSpecificScore }),
    scoreThresholds: SCORE_THRESHOLDS,
  });
  const expectations = topicExpectations(config, activeValidators);
  const expectedPerSecond = (name: string): number => {
    const topic = topics.get(name);
    return topic === undefined ? 0 : (expectations[topic.kind].messagesPerSlot * 1000) / config.SLOT_DURATION_MS;
  };
  return (components: Parameters<typeof create>[0]): GossipSub => {
    const budget = new MessageBudget(expectedPerSecond);
    return Object.assign(guardInbound(create(components), { budget, reporter, onRefused }), { refused });
  };
}
