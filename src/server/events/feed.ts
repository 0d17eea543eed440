/** An event, encoded only once for all readers. */
export interface StreamEvent {
  readonly topic: string;
  /** The event's data as JSON. */
  readonly data: Buffer;
}

/** Receives events. Its methods must not throw, because later readers would then miss the event. */
export interface EventReader {
  deliver(event: StreamEvent): void;
  /** Notifies the reader that it was disconnected because of overload. The feed has been closed. */
  disconnect(): void;
  /** Number of clients behind this reader. Defaults to 1. */
  readonly readers?: number;
}

/** Source of events on a set of topics. */
export interface Feed {
  readonly topics: readonly string[];
  /** Starts delivering events in chronological order. Returns a function that closes the feed. */
  open(reader: EventReader): () => void;
}

/** Topic prefix of `eth_subscribe` and topic of its events, whose notifications are in geth's format. */
export const ETH_TOPIC = "eth_subscription";

/** Error message for readers that are disconnected because of overload. */
export const OVERLOAD_MESSAGE = "The node has more subscribers than it can deliver all events to.";
