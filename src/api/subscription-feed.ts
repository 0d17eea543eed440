import { EthError } from "../evm/eth/eth-error.ts";
import type { EthSubscription } from "../evm/eth/logs/subscription.ts";
import { encodeJson } from "../json/encode.ts";
import { ETH_TOPIC, type Feed } from "../server/events/feed.ts";
import type { ApiContext } from "./context.ts";
import type { Topic } from "./event-stream.ts";

/** Returns the feed of an `eth_subscribe` subscription. Its topic contains the whole subscription. */
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
        // Other subscriptions have reached the limit since the method checked it.
        queueMicrotask(() => reader.disconnect());
        return () => {};
      }
    },
  };
}

/** Returns the feed of the topics of a subscription. The methods have already validated the topics. */
export function feedOf(context: Pick<ApiContext, "eth" | "events">, topics: readonly string[]): Feed {
  const [first] = topics;
  if (first?.startsWith(ETH_TOPIC)) return ethFeed(context, JSON.parse(first.slice(ETH_TOPIC.length)));
  return context.events.feed(topics as readonly Topic[]);
}
