import { routes } from "@lodestar/api";

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
