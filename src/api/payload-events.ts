import { routes } from "@lodestar/api";
import { toRootHex } from "@lodestar/utils";
import type { ChainEvents } from "../chain/events.ts";

const { EventType } = routes.events;

/** Publishes the events about payloads since gloas. */
export function followPayloads(events: ChainEvents, publish: (event: routes.events.BeaconEvent) => void): void {
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
}
