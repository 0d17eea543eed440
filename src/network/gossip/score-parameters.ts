import type { PeerScoreParams, PeerScoreThresholds, TopicScoreParams } from "@libp2p/gossipsub/score";
import type { BeaconConfig } from "@lodestar/config";
import {
  ATTESTATION_SUBNET_COUNT,
  PTC_SIZE,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
  SYNC_COMMITTEE_SUBNET_COUNT,
  TARGET_AGGREGATORS_PER_COMMITTEE,
  TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE,
} from "@lodestar/params";
import { computeCommitteeCount } from "@lodestar/state-transition";
import type { GossipTopics, TopicKind } from "./topics.ts";

/** Scores below which a peer gets no gossip, gets no published messages, or is graylisted, respectively. */
export const SCORE_THRESHOLDS: PeerScoreThresholds = {
  gossipThreshold: -4000,
  publishThreshold: -8000,
  graylistThreshold: -16000,
  acceptPXThreshold: 100,
  opportunisticGraftThreshold: 5,
};

/** Mesh degree D (phase0/p2p-interface.md, Gossipsub Parameters). */
export const MESH_PEERS = 8;

const BIDS_PER_SLOT = 4;

const DECAY_TO_ZERO = 0.01;
/**
 * Maximum scores on a topic with weight 1: for an hour in the mesh, and for twice the expected share of first
 * deliveries.
 */
const MAX_TIME_SCORE = 10;
const MAX_FIRST_DELIVERIES_SCORE = 40;
const SECONDS_FOR_FULL_TIME_SCORE = 3600;
/** gossipsub counts a delivery when it accepts a message and again when it forwards the message. */
const COUNTS_PER_DELIVERY = 2;

interface TopicExpectation {
  /** Weight of one topic of this kind in a peer's score. */
  weight: number;
  messagesPerSlot: number;
  /** Number of epochs after which a delivery has decayed. */
  memoryEpochs: number;
}

/**
 * Returns the peer score parameters, following the approach shared by Ethereum clients: gains are bounded, and a dozen
 * invalid messages outweigh them. Missing deliveries (P3) are not penalized, because honest peers deliver few messages
 * during a network split or low participation and must not be disconnected.
 */
export function scoreParameters(
  config: BeaconConfig,
  topics: GossipTopics,
  { activeValidators, appSpecificScore = () => 0 }: ScoreOptions,
): PeerScoreParams {
  const slotMs = config.SLOT_DURATION_MS;
  // gossipsub's minimum interval is one second.
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
      // The penalty grows with the square of the number of invalid messages.
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
  // Ten offences per epoch lead to the gossip threshold if they continue.
  const sustained = convergence(behaviourPenaltyDecay, 10 / SLOTS_PER_EPOCH) - behaviourPenaltyThreshold;
  return {
    topics: Object.fromEntries(topicEntries),
    topicScoreCap: bestScore / 2,
    appSpecificScore,
    appSpecificWeight: 1,
    IPColocationFactorWeight: -bestScore / 2,
    IPColocationFactorThreshold: 3,
    // Dev networks run several nodes on a single machine.
    IPColocationFactorWhitelist: new Set(["127.0.0.1", "::1"]),
    behaviourPenaltyWeight: SCORE_THRESHOLDS.gossipThreshold / sustained ** 2,
    behaviourPenaltyThreshold,
    behaviourPenaltyDecay,
    decayInterval,
    decayToZero: DECAY_TO_ZERO,
    // The library resets a peer's score when it reconnects, so retained scores are only informational.
    retainScore: 2 * SLOTS_PER_EPOCH * slotMs,
  };
}

export interface ScoreOptions {
  /** Approximate number of validators that attest per epoch. */
  activeValidators: number;
  /** The peer's score outside of gossip. */
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

/** Returns the expected traffic and the weight per topic, for each topic kind. */
export function topicExpectations(config: BeaconConfig, activeValidators: number): Record<TopicKind, TopicExpectation> {
  const attestersPerSlot = Math.max(1, activeValidators) / SLOTS_PER_EPOCH;
  const committees = computeCommitteeCount(Math.max(1, activeValidators));
  const rarely = (perEpoch: number) => ({
    weight: 0.05,
    messagesPerSlot: perEpoch / SLOTS_PER_EPOCH,
    memoryEpochs: 100,
  });
  // A block's data matters as much as the block. Its subnets share the weight.
  const ofBlockData = (subnets: number) => ({ weight: 0.5 / subnets, messagesPerSlot: 1, memoryEpochs: 20 });
  return {
    beacon_block: { weight: 0.5, messagesPerSlot: 1, memoryEpochs: 20 },
    blob_sidecar: ofBlockData(config.BLOB_SIDECAR_SUBNET_COUNT_ELECTRA),
    data_column_sidecar: ofBlockData(config.DATA_COLUMN_SIDECAR_SUBNET_COUNT),
    // A block counts little without its payload.
    execution_payload: { weight: 0.5, messagesPerSlot: 1, memoryEpochs: 20 },
    // The number of builders is unknown. Each of them bids once for a parent, and only better bids are forwarded.
    execution_payload_bid: { weight: 0.1, messagesPerSlot: BIDS_PER_SLOT, memoryEpochs: 4 },
    payload_attestation_message: {
      weight: 0.3,
      messagesPerSlot: Math.min(PTC_SIZE, Math.max(1, activeValidators)),
      memoryEpochs: 1,
    },
    proposer_preferences: { weight: 0.05, messagesPerSlot: 1, memoryEpochs: 20 },
    beacon_aggregate_and_proof: {
      weight: 0.5,
      messagesPerSlot: Math.min(attestersPerSlot, committees * TARGET_AGGREGATORS_PER_COMMITTEE),
      memoryEpochs: 1,
    },
    beacon_attestation: {
      weight: 1 / ATTESTATION_SUBNET_COUNT,
      messagesPerSlot: attestersPerSlot / ATTESTATION_SUBNET_COUNT,
      // With few committees, a subnet is idle most of the time.
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

/** Returns the limit of a counter that grows by `rate` and decays in every interval. */
function convergence(decay: number, rate: number): number {
  return rate / (1 - decay);
}
