import { routes } from "@lodestar/api";
import type { BeaconChain } from "../../chain/chain.ts";
import { encodeJson } from "../../json/encode.ts";
import type { Deliver, Feed } from "../../server/events/feed.ts";
import { followChain, type ServedEvent } from "./follow-chain.ts";
import type { Topic } from "./topics.ts";

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
