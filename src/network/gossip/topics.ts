import type { BeaconConfig, ForkBoundary } from "@lodestar/config";
import { ATTESTATION_SUBNET_COUNT, ForkSeq, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import { blobSubnetCount } from "../../data/blob-sidecars.ts";

/** Topic kinds. A kind with subnets has one topic per subnet, whose name ends with the subnet number. */
export type TopicKind =
  | "beacon_block"
  | "beacon_aggregate_and_proof"
  | "beacon_attestation"
  | "voluntary_exit"
  | "proposer_slashing"
  | "attester_slashing"
  | "sync_committee_contribution_and_proof"
  | "sync_committee"
  | "bls_to_execution_change"
  | "blob_sidecar"
  | "data_column_sidecar"
  | "execution_payload"
  | "execution_payload_bid"
  | "payload_attestation_message"
  | "proposer_preferences";

export interface GossipTopic {
  /** Full topic string (phase0/p2p-interface.md, Topics and messages). */
  name: string;
  kind: TopicKind;
  boundary: ForkBoundary;
  /** 0 for global topics. */
  subnet: number;
}

interface TopicKindSpec {
  since: ForkSeq;
  /** The first fork without this topic. */
  until?: ForkSeq;
  /** Returns the number of subnets. Undefined for a global topic. */
  subnets?: (config: BeaconConfig, fork: ForkSeq) => number;
}

const KINDS: Readonly<Record<TopicKind, TopicKindSpec>> = {
  beacon_block: { since: ForkSeq.phase0 },
  beacon_aggregate_and_proof: { since: ForkSeq.phase0 },
  beacon_attestation: { since: ForkSeq.phase0, subnets: () => ATTESTATION_SUBNET_COUNT },
  voluntary_exit: { since: ForkSeq.phase0 },
  proposer_slashing: { since: ForkSeq.phase0 },
  attester_slashing: { since: ForkSeq.phase0 },
  sync_committee_contribution_and_proof: { since: ForkSeq.altair },
  sync_committee: { since: ForkSeq.altair, subnets: () => SYNC_COMMITTEE_SUBNET_COUNT },
  bls_to_execution_change: { since: ForkSeq.capella },
  blob_sidecar: { since: ForkSeq.deneb, until: ForkSeq.fulu, subnets: blobSubnetCount },
  data_column_sidecar: { since: ForkSeq.fulu, subnets: (config) => config.DATA_COLUMN_SIDECAR_SUBNET_COUNT },
  execution_payload: { since: ForkSeq.gloas },
  execution_payload_bid: { since: ForkSeq.gloas },
  payload_attestation_message: { since: ForkSeq.gloas },
  proposer_preferences: { since: ForkSeq.gloas },
};

export const TOPIC_KINDS = Object.keys(KINDS) as TopicKind[];

/** All topics of the scheduled forks. No other topic name is valid. */
export class GossipTopics {
  readonly #config: BeaconConfig;
  readonly #byName = new Map<string, GossipTopic>();

  constructor(config: BeaconConfig) {
    this.#config = config;
    for (const boundary of scheduledBoundaries(config)) {
      for (const topic of this.#ofBoundary(boundary)) this.#byName.set(topic.name, topic);
    }
  }

  get(name: string): GossipTopic | undefined {
    return this.#byName.get(name);
  }

  all(): IterableIterator<GossipTopic> {
    return this.#byName.values();
  }

  /** Returns the topic at the given epoch, or undefined if the fork has no such topic. */
  at(epoch: Epoch, kind: TopicKind, subnet = 0): GossipTopic | undefined {
    return this.#byName.get(this.#name(this.#config.getForkBoundaryAtEpoch(epoch), kind, subnet));
  }

  /**
   * Returns the topics of all subnets at the given epoch, or the only topic of a global kind. Empty if the fork has no
   * such topic.
   */
  allAt(epoch: Epoch, kind: TopicKind): GossipTopic[] {
    return [...this.#ofKind(this.#config.getForkBoundaryAtEpoch(epoch), kind)];
  }

  *#ofBoundary(boundary: ForkBoundary): Iterable<GossipTopic> {
    for (const kind of TOPIC_KINDS) yield* this.#ofKind(boundary, kind);
  }

  *#ofKind(boundary: ForkBoundary, kind: TopicKind): Iterable<GossipTopic> {
    const { since, until = Number.POSITIVE_INFINITY, subnets = () => 1 } = KINDS[kind];
    const { seq } = this.#config.forks[boundary.fork];
    if (seq < since || seq >= until) return;
    const count = subnets(this.#config, seq);
    for (let subnet = 0; subnet < count; subnet++) {
      yield { name: this.#name(boundary, kind, subnet), kind, boundary, subnet };
    }
  }

  #name(boundary: ForkBoundary, kind: TopicKind, subnet: number): string {
    const digest = Buffer.from(this.#config.forkBoundary2ForkDigest(boundary)).toString("hex");
    const name = KINDS[kind].subnets === undefined ? kind : `${kind}_${subnet}`;
    return `/eth2/${digest}/${name}/ssz_snappy`;
  }
}

/** A fork's topics are joined one epoch before the fork and left two epochs after the next fork. */
const EPOCHS_BEFORE = 1;
const EPOCHS_AFTER = 2;

/**
 * Returns the fork boundaries whose topics are joined: the current one, and those that are about to start or have just
 * ended.
 */
export function activeForkBoundaries(config: BeaconConfig, epoch: Epoch): ForkBoundary[] {
  const boundaries = scheduledBoundaries(config);
  return boundaries.filter((boundary, index) => {
    const next = boundaries[index + 1];
    return boundary.epoch - EPOCHS_BEFORE <= epoch && (next === undefined || epoch < next.epoch + EPOCHS_AFTER);
  });
}

/** Returns the scheduled changes of the fork digest, whether by a fork or by blob parameters, in ascending order. */
function scheduledBoundaries(config: BeaconConfig): ForkBoundary[] {
  const epochs = config.forkBoundariesAscendingEpochOrder.map(({ epoch }) => epoch);
  // If an epoch has several boundaries, the last one applies.
  return [...new Set(epochs)].filter(Number.isFinite).map((epoch) => config.getForkBoundaryAtEpoch(epoch));
}
