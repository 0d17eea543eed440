import { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { LightClientHeader } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { BeaconChain } from "../chain/chain.ts";
import type { ChainEvents, HeadEvent } from "../chain/events.ts";
import { hasHeader } from "../data/sidecar.ts";
import { versionedHashesOf } from "../execution/engine.ts";
import { encodeJson } from "../json/encode.ts";
import type { EventReader, Feed } from "../server/events/feed.ts";
import { followPayloads } from "./payload-events.ts";

const { EventType } = routes.events;

type BeaconEvent = routes.events.BeaconEvent;

/** All topics in the Beacon API's event stream, including those of later forks and those that this node never emits. */
export const TOPICS = Object.values(EventType);

export type Topic = routes.events.EventType;

/** Chain events in the format of the Beacon API. */
export interface EventStream {
  /** Returns a feed that delivers events on the topics in chronological order. */
  feed(topics: readonly Topic[]): Feed;
  /** Number of subscribers by topic. Contains only topics that have had a subscriber. */
  subscribers(): ReadonlyMap<Topic, number>;
}

type Publish = (event: BeaconEvent) => void;

interface OnDemandTopics {
  topics: readonly Topic[];
  /** Starts publishing. Returns a function that stops it. */
  follow(events: ChainEvents, publish: Publish): () => void;
}

/** Topics whose events the chain computes only if there are subscribers. */
const ON_DEMAND: readonly OnDemandTopics[] = [
  {
    topics: [EventType.payloadAttributes],
    follow: (events, publish) =>
      events.on("payloadAttributes", (message) => publish({ type: EventType.payloadAttributes, message })),
  },
  {
    topics: [EventType.attestation, EventType.singleAttestation],
    follow: (events, publish) =>
      events.on("attestation", (attestation) => {
        if ("attesterIndex" in attestation) publish({ type: EventType.singleAttestation, message: attestation });
        else publish({ type: EventType.attestation, message: attestation });
      }),
  },
  {
    topics: [EventType.contributionAndProof],
    follow: (events, publish) =>
      events.on("contribution", (message) => publish({ type: EventType.contributionAndProof, message })),
  },
];

/** Updates for light clients, which the chain derives for each block only if there are subscribers. */
function lightClientTopics(config: BeaconConfig): OnDemandTopics[] {
  // The fork of an update is the fork of its attested header (altair/light-client/p2p-interface.md).
  const versionOf = ({ attestedHeader }: { attestedHeader: LightClientHeader }) =>
    config.getForkName(attestedHeader.beacon.slot);
  return [
    {
      topics: [EventType.lightClientFinalityUpdate],
      follow: (events, publish) =>
        events.on("lightClientFinalityUpdate", (data) =>
          publish({ type: EventType.lightClientFinalityUpdate, message: { version: versionOf(data), data } }),
        ),
    },
    {
      topics: [EventType.lightClientOptimisticUpdate],
      follow: (events, publish) =>
        events.on("lightClientOptimisticUpdate", (data) =>
          publish({ type: EventType.lightClientOptimisticUpdate, message: { version: versionOf(data), data } }),
        ),
    },
  ];
}

export function createEventStream({ config, events }: Pick<BeaconChain, "config" | "events">): EventStream {
  const onDemand = [...ON_DEMAND, ...lightClientTopics(config)];
  const readers = new Map<Topic, Set<EventReader>>();
  const { toJson } = routes.events.getEventSerdes(config);

  let isFollowing = false;
  /** Functions that end the on-demand topics in use. */
  const unsubscribers = new Map<OnDemandTopics, () => void>();

  function followOnDemand(): void {
    for (const demanded of onDemand) {
      const isRead = demanded.topics.some((topic) => (readers.get(topic)?.size ?? 0) > 0);
      const end = unsubscribers.get(demanded);
      if (isRead && !end) unsubscribers.set(demanded, demanded.follow(events, publish));
      if (isRead || !end) continue;
      end();
      unsubscribers.delete(demanded);
    }
  }

  function publish(event: BeaconEvent): void {
    const interested = readers.get(event.type);
    // Encoding costs the most, and most topics have no reader.
    if (interested === undefined || interested.size === 0) return;
    const encoded = { topic: event.type, data: encodeJson(toJson(event)) };
    // There are few readers, because each server subscribes only once on behalf of all its clients.
    for (const reader of interested) reader.deliver(encoded);
  }

  return {
    feed: (topics) => ({
      topics,
      open(reader) {
        if (!isFollowing) {
          followChain(config, events, publish);
          followPayloads(config, events, publish);
        }
        isFollowing = true;
        const sets = topics.map((topic) => {
          const set = readers.get(topic) ?? new Set();
          readers.set(topic, set.add(reader));
          return set;
        });
        followOnDemand();
        return () => {
          for (const set of sets) set.delete(reader);
          followOnDemand();
        };
      },
    }),
    subscribers: () => new Map(Array.from(readers, ([topic, ofTopic]) => [topic, countOf(ofTopic)])),
  };
}

function countOf(readers: Iterable<EventReader>): number {
  let count = 0;
  for (const reader of readers) count += reader.readers ?? 1;
  return count;
}

/** Publishes chain events in the format of the Beacon API. */
function followChain(config: BeaconConfig, events: ChainEvents, publish: Publish): void {
  const publishHeadV2 = ({ root, stateRoot, payloadStatus, ...rest }: HeadEvent) => {
    const { slot, epochTransition, previousDutyDependentRoot, currentDutyDependentRoot, executionOptimistic } = rest;
    publish({
      type: EventType.headV2,
      message: {
        version: config.getForkName(slot),
        data: {
          slot,
          block: root,
          state: stateRoot,
          payloadStatus,
          epochTransition,
          // These are the same roots, named after the epochs whose duties they determine.
          currentEpochDependentRoot: previousDutyDependentRoot,
          nextEpochDependentRoot: currentDutyDependentRoot,
          executionOptimistic,
        },
      },
    });
  };
  events.on("head", (event) => {
    const { root, stateRoot, payloadStatus: _, ...rest } = event;
    publish({ type: EventType.head, message: { ...rest, block: root, state: stateRoot } });
    publishHeadV2(event);
  });
  events.on("headPayload", publishHeadV2);
  events.on("block", ({ slot, root, executionOptimistic }) => {
    publish({ type: EventType.block, message: { slot, block: root, executionOptimistic } });
  });
  events.on("blockGossip", ({ slot, root }) => {
    publish({ type: EventType.blockGossip, message: { slot, block: root } });
  });
  events.on("blobSidecar", ({ root, slot, sidecar: { index, kzgCommitment } }) => {
    const [versionedHash] = versionedHashesOf([kzgCommitment]);
    publish({
      type: EventType.blobSidecar,
      message: {
        blockRoot: root,
        index,
        slot,
        kzgCommitment: toHex(kzgCommitment),
        versionedHash: toHex(versionedHash!),
      },
    });
  });
  events.on("columnSidecar", ({ root, slot, sidecar }) => {
    const position = { blockRoot: root, index: sidecar.index, slot };
    // Since gloas, the commitments are in the bid.
    const commitments = hasHeader(sidecar)
      ? { kzgCommitments: sidecar.kzgCommitments.map((commitment) => toHex(commitment)) }
      : {};
    publish({ type: EventType.dataColumnSidecar, message: { ...position, ...commitments } });
  });
  events.on("voluntaryExit", (message) => publish({ type: EventType.voluntaryExit, message }));
  events.on("blsToExecutionChange", (message) => publish({ type: EventType.blsToExecutionChange, message }));
  events.on("proposerSlashing", (message) => publish({ type: EventType.proposerSlashing, message }));
  events.on("attesterSlashing", (message) => publish({ type: EventType.attesterSlashing, message }));
  events.on("finalized", ({ root, stateRoot, epoch, executionOptimistic }) => {
    publish({
      type: EventType.finalizedCheckpoint,
      message: { block: root, state: stateRoot, epoch, executionOptimistic },
    });
  });
  events.on("fastConfirmation", ({ root, slot, currentSlot }) => {
    publish({ type: EventType.fastConfirmation, message: { block: root, slot, currentSlot } });
  });
  events.on("reorg", ({ slot, depth, oldHead, newHead, oldHeadState, newHeadState, executionOptimistic }) => {
    const epoch = computeEpochAtSlot(slot);
    const heads = { oldHeadBlock: oldHead, newHeadBlock: newHead, oldHeadState, newHeadState };
    publish({ type: EventType.chainReorg, message: { slot, depth, ...heads, epoch, executionOptimistic } });
  });
}
