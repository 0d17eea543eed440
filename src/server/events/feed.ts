/** An event, encoded once for all readers. */
export interface StreamEvent {
  readonly topic: string;
  /** JSON. */
  readonly data: Buffer;
}

/** Receives events. An exception in one of its methods would keep the event from later readers. */
export interface EventReader {
  deliver(event: StreamEvent): void;
  /** Notifies the reader that it was disconnected because of overload. Its feed is closed. */
  disconnect(): void;
  /** Number of clients behind this reader. Default: 1. */
  readonly readers?: number;
}

/** Event source for a set of topics. */
export interface Feed {
  readonly topics: readonly string[];
  /** Starts delivery in chronological order. Returns a function that closes the feed. */
  open(reader: EventReader): () => void;
}

/** Topic prefix of `eth_subscribe`, and topic of its events. Their notifications have geth's format. */
export const ETH_TOPIC = "eth_subscription";

/** Error message for readers that are disconnected because of overload. */
export const OVERLOAD_MESSAGE = "The node has more subscribers than it can deliver all events to.";
