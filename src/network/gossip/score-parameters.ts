import type { PeerScoreParams, PeerScoreThresholds, TopicScoreParams } from "@libp2p/gossipsub/score";
import type { BeaconConfig } from "@lodestar/config";
import {
  ATTESTATION_SUBNET_COUNT,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
  SYNC_COMMITTEE_SUBNET_COUNT,
  TARGET_AGGREGATORS_PER_COMMITTEE,
  TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE,
} from "@lodestar/params";
import { computeCommitteeCount } from "@lodestar/state-transition";
import type { GossipTopics, TopicKind } from "./topics.ts";

/** What becomes of a peer whose score falls: no more rumours, no more messages of ours, and then it is not heard at all. */
export const SCORE_THRESHOLDS: PeerScoreThresholds = {
  gossipThreshold: -4000,
  publishThreshold: -8000,
  graylistThreshold: -16000,
  acceptPXThreshold: 100,
  opportunisticGraftThreshold: 5,
};

/** How many peers a mesh has: phase0/p2p-interface.md, Gossipsub Parameters. */
export const MESH_PEERS = 8;

const DECAY_TO_ZERO = 0.01;
/** What being in a mesh for an hour, and delivering twice one's share of messages first, is worth on a topic of weight 1. */
const MAX_TIME_SCORE = 10;
const MAX_FIRST_DELIVERIES_SCORE = 40;
const SECONDS_FOR_FULL_TIME_SCORE = 3600;
/** gossipsub counts a delivery once when a message is accepted and once more when it is forwarded. */
const COUNTS_PER_DELIVERY = 2;

interface TopicExpectation {
  /** How much of a peer's score depends on one topic of the kind. */
  weight: number;
  messagesPerSlot: number;
  /** After how many epochs a delivery is forgotten. */
  memoryEpochs: number;
}

/**
 * How peers are scored, after the reasoning that Ethereum's clients share: what a peer can gain is bounded, and a dozen
 * invalid messages outweigh all of it. Peers are not punished for messages that they do not deliver (P3): when the network
 * is split or validators rest, honest peers have nothing to deliver, and losing them is what must not happen then.
 */
export function scoreParameters(
  config: BeaconConfig,
  topics: GossipTopics,
  { activeValidators, appSpecificScore = () => 0 }: ScoreOptions,
): PeerScoreParams {
  const slotMs = config.SLOT_DURATION_MS;
  // gossipsub takes no shorter interval than a second.
  const decayInterval = Math.max(slotMs, 1000);
  const decayOver = (epochs: number) => DECAY_TO_ZERO ** (decayInterval / (epochs * SLOTS_PER_EPOCH * slotMs));
  const expectations = topicExpectations(config, activeValidators);
  const bestScore = bestPossibleScore(config, expectations);

  const topicParams = (kind: TopicKind): TopicScoreParams => {
    const { weight, messagesPerSlot, memoryEpochs } = expectations[kind];
    const timeInMeshCap = (SECONDS_FOR_FULL_TIME_SCORE * 1000) / slotMs;
    const decay = decayOver(memoryEpochs);
    const share = (messagesPerSlot * (decayInterval / slotMs)) / MESH_PEERS;
    const firstMessageDeliveriesCap = COUNTS_PER_DELIVERY * convergence(decay, 2 * share);
    return {
      topicWeight: weight,
      timeInMeshQuantum: slotMs,
      timeInMeshCap,
      timeInMeshWeight: MAX_TIME_SCORE / timeInMeshCap,
      firstMessageDeliveriesDecay: decay,
      firstMessageDeliveriesCap,
      firstMessageDeliveriesWeight: MAX_FIRST_DELIVERIES_SCORE / firstMessageDeliveriesCap,
      invalidMessageDeliveriesDecay: decayOver(50),
      // The square of their number counts, on each topic alike.
      invalidMessageDeliveriesWeight: -bestScore / weight,
      ...WITHOUT_DELIVERY_QUOTA,
    };
  };
  const byKind = new Map<TopicKind, TopicScoreParams>();
  const topicEntries = [...topics.all()].map(({ name, kind }) => {
    const params = byKind.get(kind) ?? topicParams(kind);
    byKind.set(kind, params);
    return [name, params] as const;
  });

  const behaviourPenaltyDecay = decayOver(10);
  const behaviourPenaltyThreshold = 6;
  // Ten offences an epoch, kept up, lead to where rumours end.
  const keptUp = convergence(behaviourPenaltyDecay, 10 / SLOTS_PER_EPOCH) - behaviourPenaltyThreshold;
  return {
    topics: Object.fromEntries(topicEntries),
    topicScoreCap: bestScore / 2,
    appSpecificScore,
    appSpecificWeight: 1,
    IPColocationFactorWeight: -bestScore / 2,
    IPColocationFactorThreshold: 3,
    // Nodes on one machine are what a dev network is made of.
    IPColocationFactorWhitelist: new Set(["127.0.0.1", "::1"]),
    behaviourPenaltyWeight: SCORE_THRESHOLDS.gossipThreshold / keptUp ** 2,
    behaviourPenaltyThreshold,
    behaviourPenaltyDecay,
    decayInterval,
    decayToZero: DECAY_TO_ZERO,
    // The library begins anew with a peer that comes back (the peers' own scores remember), so that what it retains of those
    // that are gone serves only to tell of them, and would fill memory for as long.
    retainScore: 2 * SLOTS_PER_EPOCH * slotMs,
  };
}

export interface ScoreOptions {
  /** About how many validators attest in an epoch. */
  activeValidators: number;
  /** What is known about the peer from elsewhere than gossip. */
  appSpecificScore?: (peerId: string) => number;
}

const WITHOUT_DELIVERY_QUOTA = {
  meshMessageDeliveriesWeight: 0,
  meshMessageDeliveriesDecay: 0.5,
  meshMessageDeliveriesCap: 1,
  meshMessageDeliveriesThreshold: 0,
  meshMessageDeliveriesWindow: 0,
  meshMessageDeliveriesActivation: 0,
  meshFailurePenaltyWeight: 0,
  meshFailurePenaltyDecay: 0.5,
};

/** How much comes of each kind of topic, on one topic, and how much it matters. */
export function topicExpectations(config: BeaconConfig, activeValidators: number): Record<TopicKind, TopicExpectation> {
  const attestersPerSlot = Math.max(1, activeValidators) / SLOTS_PER_EPOCH;
  const committees = computeCommitteeCount(Math.max(1, activeValidators));
  const rarely = (perEpoch: number) => ({
    weight: 0.05,
    messagesPerSlot: perEpoch / SLOTS_PER_EPOCH,
    memoryEpochs: 100,
  });
  // The data of a block matters as much as the block, and as often; each subnet has its share of that.
  const ofBlockData = (subnets: number) => ({ weight: 0.5 / subnets, messagesPerSlot: 1, memoryEpochs: 20 });
  return {
    beacon_block: { weight: 0.5, messagesPerSlot: 1, memoryEpochs: 20 },
    blob_sidecar: ofBlockData(config.BLOB_SIDECAR_SUBNET_COUNT_ELECTRA),
    data_column_sidecar: ofBlockData(config.DATA_COLUMN_SIDECAR_SUBNET_COUNT),
    beacon_aggregate_and_proof: {
      weight: 0.5,
      messagesPerSlot: Math.min(attestersPerSlot, committees * TARGET_AGGREGATORS_PER_COMMITTEE),
      memoryEpochs: 1,
    },
    beacon_attestation: {
      weight: 1 / ATTESTATION_SUBNET_COUNT,
      messagesPerSlot: attestersPerSlot / ATTESTATION_SUBNET_COUNT,
      // With few committees a subnet is silent for most of an epoch.
      memoryEpochs: committees * SLOTS_PER_EPOCH >= 2 * ATTESTATION_SUBNET_COUNT ? 1 : 4,
    },
    voluntary_exit: rarely(4),
    bls_to_execution_change: rarely(4),
    proposer_slashing: rarely(0.2),
    attester_slashing: rarely(0.2),
    sync_committee_contribution_and_proof: {
      weight: 0.2,
      messagesPerSlot: Math.min(
        SYNC_COMMITTEE_SIZE,
        SYNC_COMMITTEE_SUBNET_COUNT * TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE,
      ),
      memoryEpochs: 1,
    },
    sync_committee: {
      weight: 0.4 / SYNC_COMMITTEE_SUBNET_COUNT,
      messagesPerSlot: SYNC_COMMITTEE_SIZE / SYNC_COMMITTEE_SUBNET_COUNT,
      memoryEpochs: 1,
    },
  };
}

function bestPossibleScore(config: BeaconConfig, expectations: Record<TopicKind, TopicExpectation>): number {
  const subnets: Partial<Record<TopicKind, number>> = {
    beacon_attestation: ATTESTATION_SUBNET_COUNT,
    sync_committee: SYNC_COMMITTEE_SUBNET_COUNT,
    blob_sidecar: config.BLOB_SIDECAR_SUBNET_COUNT_ELECTRA,
    data_column_sidecar: config.DATA_COLUMN_SIDECAR_SUBNET_COUNT,
  };
  const weights = Object.entries(expectations).map(([kind, { weight }]) => weight * (subnets[kind as TopicKind] ?? 1));
  return (MAX_TIME_SCORE + MAX_FIRST_DELIVERIES_SCORE) * weights.reduce((sum, weight) => sum + weight);
}

/** Where a counter settles that grows by the rate at each interval and then decays. */
function convergence(decay: number, rate: number): number {
  return rate / (1 - decay);
}
