import type { BeaconConfig, ForkBoundary } from "@lodestar/config";
import { ATTESTATION_SUBNET_COUNT, ForkSeq, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import type { Epoch } from "@lodestar/types";
import { blobSubnetCount } from "../../data/blob-sidecars.ts";

/** The names of topics; those of subnets stand for as many topics, whose names end in the subnet's number. */
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
  | "data_column_sidecar";

export interface GossipTopic {
  /** As it goes over the wire: phase0/p2p-interface.md, Topics and messages. */
  name: string;
  kind: TopicKind;
  boundary: ForkBoundary;
  /** 0 for a topic that is not of a subnet. */
  subnet: number;
}

interface KindOfTopic {
  since: ForkSeq;
  /** The first fork that has none of them any more. */
  until?: ForkSeq;
  /** How many subnets it is divided into; left out for a global topic. */
  subnets?: (config: BeaconConfig, fork: ForkSeq) => number;
}

const KINDS: Readonly<Record<TopicKind, KindOfTopic>> = {
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
};

export const TOPIC_KINDS = Object.keys(KINDS) as TopicKind[];

/** Every topic that this node can ever take part in: those of all forks that are planned. No other name means anything. */
export class GossipTopics {
  readonly #config: BeaconConfig;
  readonly #byName = new Map<string, GossipTopic>();

  constructor(config: BeaconConfig) {
    this.#config = config;
    for (const boundary of plannedBoundaries(config)) {
      for (const topic of this.#ofBoundary(boundary)) this.#byName.set(topic.name, topic);
    }
  }

  get(name: string): GossipTopic | undefined {
    return this.#byName.get(name);
  }

  all(): IterableIterator<GossipTopic> {
    return this.#byName.values();
  }

  /** The topic of the digest that is in force at the epoch; undefined when the fork of that epoch has no such topic. */
  at(epoch: Epoch, kind: TopicKind, subnet = 0): GossipTopic | undefined {
    return this.#byName.get(this.#name(this.#config.getForkBoundaryAtEpoch(epoch), kind, subnet));
  }

  /** The topics of all subnets of the kind, or the one of a global kind, at the epoch; none when its fork has no such topic. */
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

/** How long before a fork its topics are joined, and how long after it those of the fork before are kept. */
const EPOCHS_BEFORE = 1;
const EPOCHS_AFTER = 2;

/** The forks whose topics are to be followed: the one in force, one that is close, and one that has just passed. */
export function boundariesInForce(config: BeaconConfig, epoch: Epoch): ForkBoundary[] {
  const boundaries = plannedBoundaries(config);
  return boundaries.filter((boundary, index) => {
    const next = boundaries[index + 1];
    return boundary.epoch - EPOCHS_BEFORE <= epoch && (next === undefined || epoch < next.epoch + EPOCHS_AFTER);
  });
}

/** Changes of the fork digest in ascending order, whether by a fork or by blob parameters alone. */
function plannedBoundaries(config: BeaconConfig): ForkBoundary[] {
  const epochs = config.forkBoundariesAscendingEpochOrder.map(({ epoch }) => epoch);
  // Of several in one epoch, the last one counts.
  return [...new Set(epochs)].filter(Number.isFinite).map((epoch) => config.getForkBoundaryAtEpoch(epoch));
}
