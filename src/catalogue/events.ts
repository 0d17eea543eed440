import { TOPICS } from "../api/events/topics.ts";
import { unsupported } from "../failure.ts";
import { encodeJson } from "../json/encode.ts";
import type { Caller } from "../server/method-table.ts";
import { defineEntry, get, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { text } from "./params/text.ts";
import { word } from "./params/word.ts";

export const eventEntries = [
  defineEntry({
    number: null,
    name: "subscribe",
    aliases: ["get_v1_events"],
    summary: "Subscribes to what happens, over WebSocket; the result is the id of the subscription.",
    params: {
      topics: required(
        arrayOf(word(TOPICS), { noun: "topics", minItems: 1 }),
        "What to be told of: the topics of the standard's event stream.",
      ),
    },
    rest: get("/eth/v1/events"),
    invoke: async ({ events }, { topics }, caller) => ({
      body: encodeJson(reachable(caller).subscribe(events.feed(topics))),
    }),
  }),
  defineEntry({
    number: null,
    name: "unsubscribe",
    summary: "Ends a subscription of the same WebSocket connection; false when there is none with this id.",
    params: { subscription: required(text("the id of a subscription"), "What subscribe answered.") },
    invoke: async (_api, { subscription }, caller) => ({
      body: encodeJson(reachable(caller).unsubscribe(subscription)),
    }),
  }),
];

/** A door whose callers hear nothing but answers need not say so. */
function reachable(caller: Caller | undefined): Caller {
  if (!caller) throw unsupported("Events are not delivered here.");
  return caller;
}
