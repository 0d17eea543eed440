import { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { LightClientHeader, Slot } from "@lodestar/types";
import type { BeaconChain } from "../chain/chain.ts";
import type { ChainEvents } from "../chain/events.ts";
import { encodeJson } from "../json/encode.ts";
import type { Deliver, Feed } from "../server/events/feed.ts";

const { EventType } = routes.events;

/** The topics of the standard's event stream whose events happen on this node. */
export const TOPICS = [
  EventType.head,
  EventType.block,
  EventType.blockGossip,
  EventType.attestation,
  EventType.singleAttestation,
  EventType.voluntaryExit,
  EventType.blsToExecutionChange,
  EventType.proposerSlashing,
  EventType.attesterSlashing,
  EventType.finalizedCheckpoint,
  EventType.chainReorg,
  EventType.contributionAndProof,
  EventType.lightClientFinalityUpdate,
  EventType.lightClientOptimisticUpdate,
] as const;

export type Topic = (typeof TOPICS)[number];

/** An event of the standard API, of one of the topics that are served. */
type ServedEvent = Extract<routes.events.BeaconEvent, { type: Topic }>;

/** What happens on the chain, as the events of the standard API. */
export interface EventStream {
  /** A feed of the events of these topics, in the order in which they happen. */
  feed(topics: readonly Topic[]): Feed;
}

export function createEventStream({ config, events }: Pick<BeaconChain, "config" | "events">): EventStream {
  const readers = new Map<routes.events.EventType, Set<Deliver>>();
  const { toJson } = routes.events.getEventSerdes(config);

  let isFollowing = false;

  function tell(event: ServedEvent): void {
    const interested = readers.get(event.type);
    // Most topics have no reader most of the time, and to encode is what an event costs.
    if (interested === undefined || interested.size === 0) return;
    const encoded = { topic: event.type, data: encodeJson(toJson(event)) };
    for (const deliver of interested) deliver(encoded);
  }

  return {
    feed: (topics) => (deliver) => {
      if (!isFollowing) followChain(config, events, tell);
      isFollowing = true;
      // A function of its own for each subscription, since a reader may subscribe twice.
      const own: Deliver = (event) => deliver(event);
      const sets = topics.map((topic) => {
        const set = readers.get(topic) ?? new Set();
        readers.set(topic, set.add(own));
        return set;
      });
      return () => {
        for (const set of sets) set.delete(own);
      };
    },
  };
}

/** Tells what happens on the chain in the words of the standard API. */
function followChain(config: BeaconConfig, events: ChainEvents, tell: (event: ServedEvent) => void): void {
  events.on("head", ({ root, stateRoot, ...rest }) => {
    tell({ type: EventType.head, message: { ...rest, block: root, state: stateRoot } });
  });
  events.on("block", ({ slot, root, executionOptimistic }) => {
    tell({ type: EventType.block, message: { slot, block: root, executionOptimistic } });
  });
  events.on("blockGossip", ({ slot, root }) => {
    tell({ type: EventType.blockGossip, message: { slot, block: root } });
  });
  events.on("attestation", (attestation) => {
    if ("attesterIndex" in attestation) tell({ type: EventType.singleAttestation, message: attestation });
    else tell({ type: EventType.attestation, message: attestation });
  });
  events.on("voluntaryExit", (message) => tell({ type: EventType.voluntaryExit, message }));
  events.on("blsToExecutionChange", (message) => tell({ type: EventType.blsToExecutionChange, message }));
  events.on("proposerSlashing", (message) => tell({ type: EventType.proposerSlashing, message }));
  events.on("attesterSlashing", (message) => tell({ type: EventType.attesterSlashing, message }));
  events.on("contribution", (message) => tell({ type: EventType.contributionAndProof, message }));
  events.on("lightClientFinalityUpdate", (data) => {
    tell({
      type: EventType.lightClientFinalityUpdate,
      message: { version: config.getForkName(attestedSlot(data)), data },
    });
  });
  events.on("lightClientOptimisticUpdate", (data) => {
    tell({
      type: EventType.lightClientOptimisticUpdate,
      message: { version: config.getForkName(attestedSlot(data)), data },
    });
  });
  events.on("finalized", ({ root, stateRoot, epoch, executionOptimistic }) => {
    tell({
      type: EventType.finalizedCheckpoint,
      message: { block: root, state: stateRoot, epoch, executionOptimistic },
    });
  });
  events.on("reorg", ({ slot, depth, oldHead, newHead, oldHeadState, newHeadState, executionOptimistic }) => {
    const epoch = computeEpochAtSlot(slot);
    const heads = { oldHeadBlock: oldHead, newHeadBlock: newHead, oldHeadState, newHeadState };
    tell({ type: EventType.chainReorg, message: { slot, depth, ...heads, epoch, executionOptimistic } });
  });
}

/** The fork of the attested header is that of the update (altair/light-client/p2p-interface.md). */
function attestedSlot({ attestedHeader }: { attestedHeader: LightClientHeader }): Slot {
  return attestedHeader.beacon.slot;
}
