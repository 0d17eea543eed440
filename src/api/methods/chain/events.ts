import { unsupported } from "../../../errors/failure.ts";
import type { Caller } from "../../../server/method-table.ts";
import { type CallContext, defineMethod, get, required } from "../../definition.ts";
import { TOPICS } from "../../event-stream.ts";
import { stringEnum, text as textParam, uniqueArrayOf } from "../../params/scalars.ts";
import { boolean, text } from "../../schemas.ts";

const subscribe = defineMethod({
  name: "subscribe",
  aliases: ["get_v1_events"],
  summary: "Subscribes to events over WebSocket. Returns the id of the subscription.",
  params: {
    topics: required(
      uniqueArrayOf(stringEnum(TOPICS), { noun: "topics", minItems: 1 }),
      "Topics of the Beacon API's event stream.",
    ),
  },
  result: { name: "subscription", schema: text },
  failures: ["unsupported"],
  rest: [get("/eth/v1/events")],
  cost: "cheap",
  access: "read",
  needsConnection: true,
  example: { params: [["head", "finalized_checkpoint"]] },
  feed: ({ events }, { topics }) => events.feed(topics),
  handler: ({ events }, { topics }, call) => requireCaller(call).subscribe(events.feed(topics)),
});

const unsubscribe = defineMethod({
  name: "unsubscribe",
  summary: "Ends a subscription of the same WebSocket connection. Returns false if there is none with this id.",
  params: { subscription: required(textParam("the id of a subscription"), "Id returned by subscribe.") },
  result: { name: "ended", schema: boolean },
  failures: ["unsupported"],
  cost: "cheap",
  access: "read",
  needsConnection: true,
  example: { params: (chain) => [chain.subscriptionId] },
  handler: (_context, { subscription }, call) => requireCaller(call).unsubscribe(subscription),
});

export const eventMethods = [subscribe, unsubscribe] as const;

/** Returns the caller. Throws if the caller's protocol cannot deliver events. */
function requireCaller({ caller }: CallContext = {}): Caller {
  if (!caller) throw unsupported("Events need a connection that can deliver them, such as a WebSocket.");
  return caller;
}
