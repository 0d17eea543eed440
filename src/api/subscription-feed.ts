import { EthError } from "../evm/eth/eth-error.ts";
import type { EthSubscription } from "../evm/eth/logs/subscription.ts";
import { encodeJson } from "../json/encode.ts";
import { ETH_TOPIC, type Feed } from "../server/events/feed.ts";
import type { ApiContext } from "./context.ts";
import type { Topic } from "./event-stream.ts";

/** Returns the feed for an `eth_subscribe` subscription, whose topic contains the entire subscription. */
export function ethFeed({ eth }: Pick<ApiContext, "eth">, subscription: EthSubscription): Feed {
  return {
    topics: [`${ETH_TOPIC}${JSON.stringify(subscription)}`],
    open: (reader) => {
      if (eth === undefined) return () => {};
      try {
        const deliver = (results: readonly unknown[]) => {
          for (const result of results) reader.deliver({ topic: ETH_TOPIC, data: encodeJson(result) });
        };
        return eth.subscribe(subscription, deliver, () => reader.disconnect());
      } catch (error) {
        if (!(error instanceof EthError)) throw error;
        // Since the method checked the limit, other subscriptions have reached it.
        queueMicrotask(() => reader.disconnect());
        return () => {};
      }
    },
  };
}

/** Returns the feed for a subscription's topics, which have already been validated by the methods. */
export function feedOf(context: Pick<ApiContext, "eth" | "events">, topics: readonly string[]): Feed {
  const [first] = topics;
  if (first?.startsWith(ETH_TOPIC)) return ethFeed(context, JSON.parse(first.slice(ETH_TOPIC.length)));
  return context.events.feed(topics as readonly Topic[]);
}
