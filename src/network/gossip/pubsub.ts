import { type GossipSub, gossipsub, StrictNoSign, type TopicValidatorResult } from "@libp2p/gossipsub";
import type { PeerScoreParams, PeerScoreStatsDump, PeerScoreThresholds } from "@libp2p/gossipsub/score";
import type { PublishOpts } from "@libp2p/gossipsub/types";
import type { Connection, PeerId, Stream } from "@libp2p/interface";
import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { PeerReporter } from "../peers/peer-scores.ts";
import { maxCompressedLength } from "../snappy-length.ts";
import { guardInbound } from "./inbound-guard.ts";
import { createMessageId, createSnappyTransform, fastMessageId } from "./message-encoding.ts";
import { MessageRateLimiter } from "./message-rate-limiter.ts";
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
  /** When the score of a disconnected peer is dropped (Unix milliseconds). */
  expire: number;
  behaviourPenalty: number;
}

/** gossipsub state that the package does not export. Peer ids are in base58btc. */
export interface GossipInternals {
  readonly peers: ReadonlyMap<string, PeerId>;
  /** Subscribed peers, by topic. */
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
  readonly mesh: ReadonlyMap<string, ReadonlySet<string>>;
  readonly streamsInbound: ReadonlyMap<string, RawStream>;
  readonly streamsOutbound: ReadonlyMap<string, RawStream>;
  /** True if this node dialed the peer. */
  readonly outbound: ReadonlyMap<string, boolean>;
  /** Number of IHAVE and IWANT messages since the last heartbeat. */
  readonly peerhave: ReadonlyMap<string, number>;
  readonly iwantCounts: ReadonlyMap<string, number>;
  /** Graft backoffs by topic and peer (Unix milliseconds). */
  readonly backoff: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Messages of the most recent heartbeats, by id. */
  readonly mcache: { readonly msgs: ReadonlyMap<string, unknown> };
  readonly score: {
    rejectInvalidMessage(peerId: string, topic: string): void;
    readonly params: PeerScoreParams;
    readonly peerStats: ReadonlyMap<string, ScoredPeer>;
    readonly peerIPs: ReadonlyMap<string, ReadonlySet<string>>;
  };
  readonly opts: { readonly scoreThresholds: Partial<PeerScoreThresholds> };
  /** The score may be cached for up to one heartbeat. */
  getScore(peerId: string): number;
  getMeshPeers(topic: string): string[];
  /** Opens a stream to the peer unless one exists. */
  onPeerConnected(peerId: PeerId, connection: Connection): void;
  dumpPeerScoreStats(): PeerScoreStatsDump;
}

/** gossipsub, including its internals and the number of rejected messages. */
export interface Pubsub extends GossipSub, GossipInternals {
  /** Number of messages rejected before validation, by topic. */
  readonly rejected: ReadonlyMap<string, number>;
  /** The peer id must be a string. If it is an object, the score does not change. */
  reportMessageValidationResult(messageId: string, peerId: string, result: TopicValidatorResult): void;
  publish(topic: string, data: Uint8Array, options?: PublishOpts): ReturnType<GossipSub["publish"]>;
}

/** Returns the complete type of a service created by `createPubsub`. */
export function asPubsub(service: GossipSub): Pubsub {
  return service as Pubsub;
}

interface PubsubOptions extends Partial<ScoreOptions> {
  config: BeaconConfig;
  /** Receives reports of violations that gossipsub does not score. */
  reporter?: PeerReporter;
  /** In milliseconds. Defaults to the specification's value. */
  heartbeatInterval?: number;
}

const HEARTBEAT_MS = 700;
/** Room for one message of maximum size. Peers that read more slowly miss messages. */
const MAX_OUTBOUND_BUFFER_BYTES = 16 << 20;
/**
 * Bytes that an RPC may have in addition to a message of maximum size (phase0/p2p-interface.md, `max_message_size`).
 */
const RPC_OVERHEAD_BYTES = 1024;
const DEFAULT_ACTIVE_VALIDATORS = 16_384;

/** Creates a gossipsub service with Ethereum's parameters (phase0/p2p-interface.md, The gossip domain). */
export function createPubsub({
  config,
  heartbeatInterval = HEARTBEAT_MS,
  activeValidators = DEFAULT_ACTIVE_VALIDATORS,
  appSpecificScore,
  reporter,
}: PubsubOptions) {
  const topics = new GossipTopics(config);
  const rejected = new Map<string, number>();
  const onRejected = (topic: string) => void rejected.set(topic, (rejected.get(topic) ?? 0) + 1);
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
    fastMsgIdFn: fastMessageId,
    dataTransform: createSnappyTransform(topics, config, onRejected),
    // Peers' subscriptions to other topics are not stored.
    allowedTopics: new Set(Array.from(topics.all(), ({ name }) => name)),
    maxInboundDataLength: maxCompressedLength(config.MAX_PAYLOAD_SIZE) + RPC_OVERHEAD_BYTES,
    maxOutboundBufferSize: MAX_OUTBOUND_BUFFER_BYTES,
    maxInboundStreams: 4,
    maxOutboundStreams: 4,
    fallbackToFloodsub: false,
    floodPublish: false,
    doPX: false,
    // It is not the publisher's fault if there is no recipient or the message has already been published.
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    // A busy peer may answer late without breaking its IHAVE promise.
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
    const budget = new MessageRateLimiter(expectedPerSecond);
    return Object.assign(guardInbound(create(components), { budget, reporter, onRejected }), { rejected });
  };
}
