import { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { LightClientHeader, Slot } from "@lodestar/types";
import type { ChainEvents } from "../../chain/events.ts";
import type { Topic } from "./topics.ts";

const { EventType } = routes.events;

/** An event of the standard API, of one of the topics that are served. */
export type ServedEvent = Extract<routes.events.BeaconEvent, { type: Topic }>;

/** Tells what happens on the chain in the words of the standard API. */
export function followChain(config: BeaconConfig, events: ChainEvents, tell: (event: ServedEvent) => void): void {
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
