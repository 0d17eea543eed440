import type { EthSubscription } from "../evm/eth/logs/subscription.ts";
import { encodeJson } from "../json/encode.ts";
import { ETH_TOPIC, type Feed } from "../server/events/feed.ts";
import type { ApiContext } from "./context.ts";

/** Returns the feed of an `eth_subscribe` subscription. Its topic contains the whole subscription. */
export function ethFeed({ eth }: Pick<ApiContext, "eth">, subscription: EthSubscription): Feed {
  return {
    topics: [`${ETH_TOPIC}${JSON.stringify(subscription)}`],
    open: (reader) => {
      if (eth === undefined) return () => {};
      return eth.subscribe(subscription, (results) => {
        for (const result of results) reader.deliver({ topic: ETH_TOPIC, data: encodeJson(result) });
      });
    },
  };
}

/** Returns the feed of topics of `ethFeed`; undefined for others. */
export function ethFeedOf(context: Pick<ApiContext, "eth">, [topic]: readonly string[]): Feed | undefined {
  if (!topic?.startsWith(ETH_TOPIC)) return undefined;
  return ethFeed(context, JSON.parse(topic.slice(ETH_TOPIC.length)));
}
