import type { Api } from "../../api/api.ts";
import { TOPICS } from "../../api/events/topics.ts";
import { invalidParams } from "../../failure.ts";
import type { RestRoute } from "../../server/rest/route-table.ts";
import { arrayOf } from "../params/arrays.ts";
import { firstMessage } from "../params/schema.ts";
import { word } from "../params/word.ts";
import { Query } from "./query.ts";

const topicList = arrayOf(word(TOPICS), { noun: "topics" });

/** What happens, as it happens. */
export function eventsRoute({ events }: Api): RestRoute {
  return {
    verb: "GET",
    path: "/eth/v1/events",
    answers: [],
    accepts: [],
    async handle({ query }) {
      const given = new Query(query).list("topics");
      if (given === undefined) throw invalidParams('The parameter "topics" is missing.');
      const topics = topicList.safeParse(given);
      if (!topics.success) throw invalidParams(`The parameter "topics" ${firstMessage(topics.error)}`);
      return { status: 200, feed: events.feed(topics.data) };
    },
  };
}
