import { type GossipSub, type GossipSubEvents, TopicValidatorResult } from "@libp2p/gossipsub";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type {
  AttesterSlashing,
  altair,
  capella,
  gloas,
  phase0,
  SignedAggregateAndProof,
  SignedBeaconBlock,
  SingleAttestation,
} from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { type DataSidecar, isColumn, subnetOfSidecar } from "../../data/sidecar.ts";
import type { Logger } from "../../log/logger.ts";
import type { Broadcast } from "../broadcast.ts";
import { deserializeExactly, UnsafeIntegerError } from "../deserialize-exactly.ts";
import type { PeerReporter } from "../peers/peer-scores.ts";
import type { SubnetTopics } from "../subnets/subnet-manager.ts";
import { BlockHandler, type UnknownBlocks } from "./block-handler.ts";
import { contextSlot, type GossipObjects, messageType, type ReceivedMessage, type Verdict } from "./message-types.ts";
import { OperationHandler } from "./operation-handler.ts";
import { PayloadHandler } from "./payload-handler.ts";
import { asPubsub, type Pubsub } from "./pubsub.ts";
import { isSidecarKind, SidecarHandler, type SidecarMessage } from "./sidecar-handler.ts";
import { activeForkBoundaries, type GossipTopic, GossipTopics, TOPIC_KINDS, type TopicKind } from "./topics.ts";

/**
 * Topics on which a message with an integer above 2^53 - 1 may be valid, since no gossip rule checks the source epoch
 * of an attestation. On all other topics, such an integer is an impossible slot or index.
 */
const UNSAFE_INTEGER_ALLOWED: ReadonlySet<TopicKind> = new Set(["beacon_attestation", "beacon_aggregate_and_proof"]);

interface GossipParts {
  /** The gossipsub service of a started host. */
  pubsub: GossipSub;
  chain: BeaconChain;
  unknownBlocks: UnknownBlocks;
  reporter: PeerReporter;
  logger: Logger;
}

interface PublishOptions {
  subnet?: number;
  /** Sends to all subscribed peers rather than only to the mesh. */
  floodPublish?: boolean;
  /** Encodes the message only once for all recipients, which pays off for large messages. */
  batchPublish?: boolean;
}

const RESULTS: Readonly<Record<Verdict, TopicValidatorResult>> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
};

/** Subscribes to the active forks' topics, dispatches received messages and publishes local objects. */
export class Gossip implements Broadcast, SubnetTopics {
  readonly #pubsub: Pubsub;
  readonly #chain: BeaconChain;
  readonly #logger: Logger;
  readonly #topics: GossipTopics;
  readonly #blocks: BlockHandler;
  readonly #sidecars: SidecarHandler;
  readonly #payloads: PayloadHandler;
  readonly #operations: OperationHandler;
  /** The joined subnets, for topic kinds of which not all subnets are joined. */
  readonly #subnets: Partial<Record<TopicKind, ReadonlySet<number>>> = {
    beacon_attestation: new Set(),
    sync_committee: new Set(),
    data_column_sidecar: new Set(),
  };
  readonly #verdicts = new Map<TopicKind, Record<Verdict, number>>();
  #joined = new Set<string>();
  #unsubscribes: (() => void)[] | undefined;

  constructor({ pubsub, chain, unknownBlocks, reporter, logger }: GossipParts) {
    this.#pubsub = asPubsub(pubsub);
    this.#chain = chain;
    this.#logger = logger.topic("gossip");
    this.#topics = new GossipTopics(chain.config);
    const shared = { chain, unknownBlocks, logger: this.#logger };
    this.#blocks = new BlockHandler({ ...shared, reporter });
    this.#sidecars = new SidecarHandler(shared);
    this.#payloads = new PayloadHandler({ ...shared, reporter });
    this.#operations = new OperationHandler(shared);
  }

  /** Number of accepted, ignored and rejected messages per topic kind since the start. */
  get verdicts(): ReadonlyMap<TopicKind, Readonly<Record<Verdict, number>>> {
    const verdicts = new Map([...this.#verdicts].map(([kind, counts]) => [kind, { ...counts }]));
    for (const [name, count] of this.#pubsub.rejected) addTo(verdicts, this.#topics.get(name)?.kind, "reject", count);
    return verdicts;
  }

  start(): void {
    this.#pubsub.addEventListener("gossipsub:message", this.#onMessage);
    this.#blocks.start();
    this.#sidecars.start();
    this.#payloads.start();
    this.#operations.start();
    const { clock, events } = this.#chain;
    this.#unsubscribes = [
      clock.onSlot(() => this.#updateSubscriptions()),
      events.on("sidecarsCreated", ({ sidecars }) => this.sidecars(sidecars)),
      events.on("blockCreated", ({ signed }) => this.block(signed)),
      events.on("payloadCreated", ({ signed }) => this.payload(signed)),
      events.on("payloadAttestationsCreated", ({ messages }) => {
        for (const message of messages) this.payloadAttestation(message);
      }),
      events.on("executionBidCreated", ({ signed }) => this.executionBid(signed)),
      events.on("proposerPreferencesCreated", ({ signed }) => this.proposerPreferences(signed)),
    ];
    this.#updateSubscriptions();
  }

  /** Stops receiving messages and waits for those still being processed. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes ?? []) unsubscribe();
    this.#unsubscribes = undefined;
    this.#pubsub.removeEventListener("gossipsub:message", this.#onMessage);
    const handlers = [this.#blocks, this.#sidecars, this.#payloads, this.#operations];
    await Promise.all(handlers.map((handler) => handler.close()));
  }

  setAttestationSubnets(subnets: ReadonlySet<number>): void {
    this.#subnets.beacon_attestation = new Set(subnets);
    this.#updateSubscriptions();
  }

  setSyncSubnets(subnets: ReadonlySet<number>): void {
    this.#subnets.sync_committee = new Set(subnets);
    this.#updateSubscriptions();
  }

  setColumnSubnets(subnets: ReadonlySet<number>): void {
    this.#subnets.data_column_sidecar = new Set(subnets);
    this.#updateSubscriptions();
  }

  block(signed: SignedBeaconBlock): void {
    // Flood-published, because a block is time-critical and there is only one per slot.
    this.#publish("beacon_block", signed, { floodPublish: true });
  }

  sidecars(sidecars: readonly DataSidecar[]): void {
    this.#publishing("sidecars", () => this.#sendSidecars(sidecars));
  }

  attestation(attestation: phase0.Attestation | SingleAttestation, subnet: number): void {
    this.#publish("beacon_attestation", attestation, { subnet });
  }

  aggregate(aggregate: SignedAggregateAndProof): void {
    this.#publish("beacon_aggregate_and_proof", aggregate);
  }

  syncMessage(message: altair.SyncCommitteeMessage, subnet: number): void {
    this.#publish("sync_committee", message, { subnet });
  }

  contribution(contribution: altair.SignedContributionAndProof): void {
    this.#publish("sync_committee_contribution_and_proof", contribution);
  }

  voluntaryExit(exit: phase0.SignedVoluntaryExit): void {
    this.#publish("voluntary_exit", exit);
  }

  proposerSlashing(slashing: phase0.ProposerSlashing): void {
    this.#publish("proposer_slashing", slashing);
  }

  attesterSlashing(slashing: AttesterSlashing): void {
    this.#publish("attester_slashing", slashing);
  }

  blsToExecutionChange(change: capella.SignedBLSToExecutionChange): void {
    this.#publish("bls_to_execution_change", change);
  }

  payload(envelope: gloas.SignedExecutionPayloadEnvelope): void {
    // As time-critical as the block.
    this.#publish("execution_payload", envelope, { floodPublish: true, batchPublish: true });
  }

  payloadAttestation(message: gloas.PayloadAttestationMessage): void {
    this.#publish("payload_attestation_message", message);
  }

  executionBid(bid: gloas.SignedExecutionPayloadBid): void {
    this.#publish("execution_payload_bid", bid);
  }

  proposerPreferences(preferences: gloas.SignedProposerPreferences): void {
    this.#publish("proposer_preferences", preferences);
  }

  #publish<K extends TopicKind>(kind: K, object: GossipObjects[K], options: PublishOptions = {}): void {
    this.#publishing(kind, () => this.#send(kind, object, options));
  }

  #publishing(kind: string, send: () => Promise<void>): void {
    // There are no peers before the start, which is when a dev chain produces its history.
    if (this.#unsubscribes === undefined) return;
    send().catch((error) => {
      this.#logger.warn("Could not publish message", { topic: kind, error });
    });
  }

  /** Also publishes to subnets that this node has not joined, for which gossipsub uses fanout peers. */
  async #sendSidecars(sidecars: readonly DataSidecar[]): Promise<void> {
    const slice = new TimeSlice();
    for (const sidecar of sidecars) {
      await slice.yieldIfDue();
      const options = { subnet: subnetOfSidecar(this.#chain.config, sidecar), batchPublish: true };
      if (isColumn(sidecar)) await this.#send("data_column_sidecar", sidecar, options);
      else await this.#send("blob_sidecar", sidecar, options);
    }
  }

  async #send<K extends TopicKind>(
    kind: K,
    object: GossipObjects[K],
    { subnet, ...options }: PublishOptions,
  ): Promise<void> {
    const slot = contextSlot(kind, object) ?? this.#chain.clock.currentSlot;
    const topic = this.#topics.at(computeEpochAtSlot(slot), kind, subnet);
    // The object may belong to a later fork, for example a BLS to execution change before capella.
    if (topic === undefined) return;
    await this.#pubsub.publish(topic.name, messageType(kind, topic.boundary.fork).serialize(object), options);
  }

  /** Updates the topic subscriptions to match the active forks and the joined subnets. */
  #updateSubscriptions(): void {
    if (this.#unsubscribes === undefined) return;
    const topics = new Set(this.#wantedTopics());
    for (const name of topics) if (!this.#joined.has(name)) this.#pubsub.subscribe(name);
    for (const name of this.#joined) if (!topics.has(name)) this.#pubsub.unsubscribe(name);
    this.#joined = topics;
  }

  *#wantedTopics(): Iterable<string> {
    const { config, clock } = this.#chain;
    for (const { epoch } of activeForkBoundaries(config, clock.currentEpoch)) {
      for (const kind of TOPIC_KINDS) {
        for (const { name, subnet } of this.#topics.allAt(epoch, kind)) {
          if (this.#subnets[kind]?.has(subnet) !== false) yield name;
        }
      }
    }
  }

  readonly #onMessage = ({ detail }: GossipSubEvents["gossipsub:message"]): void => {
    const { msg, msgId, propagationSource } = detail;
    const peerId = propagationSource.toString();
    let isReported = false;
    const report = (verdict: Verdict) => {
      if (isReported) return;
      isReported = true;
      addTo(this.#verdicts, this.#topics.get(msg.topic)?.kind, verdict, 1);
      this.#report({ msgId, topic: msg.topic, peerId }, verdict);
    };
    try {
      const topic = this.#topics.get(msg.topic);
      if (topic === undefined || !this.#canValidate(topic)) {
        report("ignore");
        return;
      }
      const decoded = this.#decode(topic, msg.data);
      if ("verdict" in decoded) report(decoded.verdict);
      else this.#dispatch({ topic, object: decoded.object, bytes: msg.data.length, peerId, report });
    } catch (error) {
      this.#logger.error("Could not handle message", { topic: msg.topic, peer: peerId, error });
      report("ignore");
    }
  };

  /**
   * Valid and invalid messages cannot be told apart while syncing. Blocks are validated nevertheless, since they show
   * how far behind the node is.
   */
  #canValidate({ kind }: GossipTopic): boolean {
    return kind === "beacon_block" || !this.#chain.status.isSyncing;
  }

  #decode(
    { kind, boundary }: GossipTopic,
    data: Uint8Array,
  ): { object: GossipObjects[TopicKind] } | { verdict: Verdict } {
    try {
      return { object: deserializeExactly(messageType(kind, boundary.fork), data) };
    } catch (error) {
      const mayBeValid = error instanceof UnsafeIntegerError && UNSAFE_INTEGER_ALLOWED.has(kind);
      return { verdict: mayBeValid ? "ignore" : "reject" };
    }
  }

  #dispatch(message: ReceivedMessage): void {
    const { topic } = message;
    const verdict = this.#wrongForkVerdict(message);
    if (verdict) message.report(verdict);
    else if (topic.kind === "beacon_block") this.#blocks.handle(message as ReceivedMessage<"beacon_block">);
    else if (isSidecarKind(topic.kind)) this.#sidecars.handle(message as SidecarMessage);
    else if (topic.kind === "execution_payload") this.#payloads.handle(message as ReceivedMessage<"execution_payload">);
    else this.#operations.handle(message);
  }

  /** Returns the verdict for a message on a topic of the wrong fork, or undefined if the fork is right. */
  #wrongForkVerdict({ topic, object }: ReceivedMessage): Verdict | undefined {
    const slot = contextSlot(topic.kind, object);
    if (slot === undefined) return undefined;
    const boundary = this.#chain.config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot));
    if (boundary.epoch === topic.boundary.epoch) return undefined;
    // Preferences are for a later slot than the one in which they are published.
    if (topic.kind === "proposer_preferences") return undefined;
    // A block of another fork's type is invalid. Other messages may still be published on the old topic around a fork.
    return topic.kind === "beacon_block" && boundary.fork !== topic.boundary.fork ? "reject" : "ignore";
  }

  #report({ msgId, topic, peerId }: { msgId: string; topic: string; peerId: string }, verdict: Verdict): void {
    try {
      // gossipsub drops the verdict for a message that is no longer in its cache, so a flooding peer would not be
      // penalized.
      const isEvicted = !this.#pubsub.mcache.msgs.has(msgId);
      if (isEvicted && verdict === "reject") this.#pubsub.score.rejectInvalidMessage(peerId, topic);
      this.#pubsub.reportMessageValidationResult(msgId, peerId, RESULTS[verdict]);
    } catch (error) {
      this.#logger.debug("Could not report validation result", { peer: peerId, verdict, error });
    }
  }
}

function addTo(
  verdicts: Map<TopicKind, Record<Verdict, number>>,
  kind: TopicKind | undefined,
  verdict: Verdict,
  count: number,
): void {
  if (kind === undefined) return;
  const counts = verdicts.get(kind) ?? { accept: 0, ignore: 0, reject: 0 };
  counts[verdict] += count;
  verdicts.set(kind, counts);
}
