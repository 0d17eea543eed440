/** An event, encoded once for all readers. */
export interface StreamEvent {
  readonly topic: string;
  /** JSON. */
  readonly data: Buffer;
}

/** Receives events. Its methods must not throw, or later readers would miss the event. */
export interface EventReader {
  deliver(event: StreamEvent): void;
  /** Notifies the reader that it was disconnected because of overload. Its feed is closed. */
  disconnect(): void;
  /** Number of clients that it represents. Default: 1. */
  readonly readers?: number;
}

/** Events of some topics. */
export interface Feed {
  readonly topics: readonly string[];
  /** Starts delivery in chronological order. Returns a function that closes the feed. */
  open(reader: EventReader): () => void;
}

/** Prefix of the topics of `eth_subscribe`, and topic of their events. Their notifications have geth's format. */
export const ETH_TOPIC = "eth_subscription";

/** Error message for readers disconnected because of overload. */
export const OVERLOAD_MESSAGE = "The node has more subscribers than it can deliver all events to.";
