import { routes } from "@lodestar/api";
import type { ChainForkConfig } from "@lodestar/config";
import { toRootHex } from "@lodestar/utils";
import type { ChainEvents } from "../chain/events.ts";

const { EventType } = routes.events;

/** Publishes the events about payloads since gloas. */
export function followPayloads(
  config: ChainForkConfig,
  events: ChainEvents,
  publish: (event: routes.events.BeaconEvent) => void,
): void {
  events.on("payload", ({ slot, root, blockHash, builderIndex, executionOptimistic }) => {
    const message = { slot, builderIndex, blockHash, blockRoot: root, executionOptimistic };
    publish({ type: EventType.executionPayload, message });
  });
  events.on("payloadGossip", ({ slot, root, signed }) => {
    const { builderIndex, payload } = signed.message;
    const message = { slot, builderIndex, blockHash: toRootHex(payload.blockHash), blockRoot: root };
    publish({ type: EventType.executionPayloadGossip, message });
  });
  events.on("payloadAvailable", ({ slot, root }) => {
    publish({ type: EventType.executionPayloadAvailable, message: { slot, blockRoot: root } });
  });
  events.on("executionBid", (data) => {
    const version = config.getForkName(data.message.slot);
    publish({ type: EventType.executionPayloadBid, message: { version, data } });
  });
  events.on("proposerPreferences", (data) => {
    const version = config.getForkName(data.message.proposalSlot);
    publish({ type: EventType.proposerPreferences, message: { version, data } });
  });
  events.on("payloadAttestation", (message) => {
    const version = config.getForkName(message.data.slot);
    publish({ type: EventType.payloadAttestationMessage, message: { version, data: message } });
  });
}
