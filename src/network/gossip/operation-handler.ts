import type { RootHex, Slot } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import type { OperationProcessor } from "../../chain/operation-processor.ts";
import { type Outcome, outcomeOf } from "../../chain/validation/outcome.ts";
import type { Logger } from "../../log/logger.ts";
import { type BatchLimits, BatchQueue } from "./batch-queue.ts";
import type { UnknownBlocks } from "./block-handler.ts";
import type { GossipObjects, ReceivedMessage } from "./message-types.ts";
import { type ReprocessLimits, ReprocessQueue } from "./reprocess-queue.ts";
import type { TopicKind } from "./topics.ts";

/** All topics except blocks, payloads and sidecars. */
type OperationKind = Exclude<TopicKind, "beacon_block" | "blob_sidecar" | "data_column_sidecar" | "execution_payload">;

type Processor<K extends OperationKind> = (messages: ReceivedMessage<K>[]) => Promise<Outcome<unknown>[]>;
type Processors = { [K in OperationKind]: Processor<K> };

export interface OperationHandlerParts {
  chain: Pick<BeaconChain, "processor" | "clock" | "events" | "forkChoice" | "isImporting">;
  unknownBlocks: Pick<UnknownBlocks, "onUnknownBlock" | "onUnknownPayload">;
  logger: Logger;
}

const BATCHES: BatchLimits = { batchSize: 64, windowMs: 50, maxRunning: 4, maxWaiting: 16_384 };
const REPROCESSING: ReprocessLimits = { maxRoots: 64, maxItems: 16_384, maxRootsPerPeer: 16, maxItemsPerPeer: 2_048 };

/** Passes operations from gossip to the chain's operation processor in batches and reports the verdicts. */
export class OperationHandler {
  readonly #parts: OperationHandlerParts;
  readonly #queues: { [K in OperationKind]: BatchQueue<ReceivedMessage<K>> };
  readonly #reprocessing = new ReprocessQueue<ReceivedMessage>(REPROCESSING);
  /** Votes for payloads that have not arrived. */
  readonly #awaitingPayload = new ReprocessQueue<ReceivedMessage>(REPROCESSING);
  #subscriptions: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: OperationHandlerParts) {
    this.#parts = parts;
    const processors = processorsOf(parts.chain.processor);
    this.#queues = {
      beacon_attestation: this.#queue(processors.beacon_attestation),
      beacon_aggregate_and_proof: this.#queue(processors.beacon_aggregate_and_proof),
      sync_committee: this.#queue(processors.sync_committee),
      sync_committee_contribution_and_proof: this.#queue(processors.sync_committee_contribution_and_proof),
      voluntary_exit: this.#queue(processors.voluntary_exit),
      proposer_slashing: this.#queue(processors.proposer_slashing),
      attester_slashing: this.#queue(processors.attester_slashing),
      bls_to_execution_change: this.#queue(processors.bls_to_execution_change),
      payload_attestation_message: this.#queue(processors.payload_attestation_message),
      execution_payload_bid: this.#queue(processors.execution_payload_bid),
      proposer_preferences: this.#queue(processors.proposer_preferences),
    };
  }

  start(): void {
    const { chain } = this.#parts;
    this.#subscriptions = [
      chain.events.on("block", ({ root }) => this.#release(this.#reprocessing, root)),
      chain.events.on("payload", ({ root }) => this.#release(this.#awaitingPayload, root)),
      chain.clock.onSlot((slot) => this.#onSlot(slot)),
    ];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#subscriptions) end();
    for (const queue of [this.#reprocessing, this.#awaitingPayload]) {
      for (const message of queue.clear()) message.report("ignore");
    }
    await Promise.all(Object.values(this.#queues).map((queue) => queue.close()));
  }

  handle(message: ReceivedMessage): void {
    // The topic kind determines the object type, but the compiler cannot infer this.
    const queue = this.#queues[message.topic.kind as OperationKind] as BatchQueue<ReceivedMessage>;
    queue.add(message);
  }

  #queue<K extends OperationKind>(process: Processor<K>): BatchQueue<ReceivedMessage<K>> {
    return new BatchQueue<ReceivedMessage<K>>(
      { process: (messages) => this.#process(messages, process), drop: (message) => message.report("ignore") },
      BATCHES,
    );
  }

  async #process<K extends OperationKind>(messages: ReceivedMessage<K>[], process: Processor<K>): Promise<void> {
    try {
      const outcomes = await process(messages);
      for (const [i, message] of messages.entries()) this.#settle(message, outcomes[i]!);
    } catch (error) {
      this.#parts.logger.error("Could not validate messages", { topic: messages[0]?.topic.kind, error });
      // Messages that already have a verdict keep it.
      for (const message of messages) message.report("ignore");
    }
  }

  #settle(message: ReceivedMessage, outcome: Outcome<unknown>): void {
    if (outcome.ok) {
      message.report("accept");
      return;
    }
    const { action, reason } = outcome.refusal;
    if (action === "reject") {
      const { peerId, topic } = message;
      this.#parts.logger.debug("Rejected message", { topic: topic.kind, peer: peerId, reason });
    }
    const root = attestedRoot(message);
    const isHeld =
      root !== undefined &&
      ((reason === "unknown-block" && this.#hold(message, root)) ||
        (reason === "unknown-payload" && this.#holdForPayload(message, root)));
    if (!isHeld) message.report(action);
  }

  /**
   * Queues an attestation until its block arrives, or validates the attestation again if the block has arrived already.
   * Returns false if the queue is full.
   */
  #hold(message: ReceivedMessage, root: RootHex): boolean {
    const { chain, unknownBlocks } = this.#parts;
    if (this.#isClosed) return false;
    if (chain.forkChoice.has(root)) {
      this.handle(message);
      return true;
    }
    const outcome = this.#reprocessing.hold(root, message, message.peerId, chain.clock.currentSlot);
    if (outcome === "first" && !chain.isImporting(root)) unknownBlocks.onUnknownBlock(root, message.peerId);
    return outcome !== "full";
  }

  /** As `#hold`, for a vote for a payload. */
  #holdForPayload(message: ReceivedMessage, root: RootHex): boolean {
    const { chain, unknownBlocks } = this.#parts;
    if (this.#isClosed) return false;
    if (chain.forkChoice.isPayloadVerified(root)) {
      this.handle(message);
      return true;
    }
    const outcome = this.#awaitingPayload.hold(root, message, message.peerId, chain.clock.currentSlot);
    if (outcome === "first") unknownBlocks.onUnknownPayload(root, message.peerId);
    return outcome !== "full";
  }

  #release(queue: ReprocessQueue<ReceivedMessage>, root: RootHex): void {
    for (const message of queue.release(root)) this.handle(message);
  }

  #onSlot(slot: Slot): void {
    for (const queue of [this.#reprocessing, this.#awaitingPayload]) {
      for (const message of queue.expire(slot)) message.report("ignore");
    }
  }
}

function attestedRoot({ topic, object }: ReceivedMessage): RootHex | undefined {
  switch (topic.kind) {
    case "beacon_attestation":
      return toRootHex((object as GossipObjects["beacon_attestation"]).data.beaconBlockRoot);
    case "beacon_aggregate_and_proof":
      return toRootHex((object as GossipObjects["beacon_aggregate_and_proof"]).message.aggregate.data.beaconBlockRoot);
    case "payload_attestation_message":
      return toRootHex((object as GossipObjects["payload_attestation_message"]).data.beaconBlockRoot);
    default:
      return undefined;
  }
}

function processorsOf(processor: OperationProcessor): Processors {
  return {
    beacon_attestation: (messages) => processor.attestations(objectsOf(messages), subnetsOf(messages)),
    beacon_aggregate_and_proof: (messages) => processor.aggregates(objectsOf(messages), "gossip"),
    sync_committee: (messages) => processor.syncMessages(objectsOf(messages), subnetsOf(messages)),
    sync_committee_contribution_and_proof: (messages) => processor.contributions(objectsOf(messages)),
    voluntary_exit: oneByOne((exit) => processor.voluntaryExit(exit, "gossip")),
    proposer_slashing: oneByOne((slashing) => processor.proposerSlashing(slashing, "gossip")),
    attester_slashing: oneByOne((slashing) => processor.attesterSlashing(slashing, "gossip")),
    bls_to_execution_change: oneByOne((change) => processor.blsToExecutionChange(change, "gossip")),
    payload_attestation_message: (messages) => processor.payloadAttestations(objectsOf(messages)),
    execution_payload_bid: oneByOne((bid) => processor.executionBid(bid)),
    proposer_preferences: oneByOne((preferences) => processor.proposerPreferences(preferences)),
  };
}

function oneByOne<K extends OperationKind>(take: (object: GossipObjects[K]) => Promise<void>): Processor<K> {
  return (messages) => Promise.all(messages.map(({ object }) => outcomeOf(() => take(object))));
}

function objectsOf<K extends OperationKind>(messages: ReceivedMessage<K>[]): GossipObjects[K][] {
  return messages.map(({ object }) => object);
}

function subnetsOf(messages: ReceivedMessage[]): number[] {
  return messages.map(({ topic }) => topic.subnet);
}
