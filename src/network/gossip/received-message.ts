import type { GossipObjects } from "./message-types.ts";
import type { GossipTopic, TopicKind } from "./topics.ts";

/** What the network is told about a message: spread it, forget it, or forget it and hold it against its sender. */
export type Verdict = "accept" | "ignore" | "reject";

/** A message whose bytes are of the type of its topic. */
export interface ReceivedMessage<K extends TopicKind = TopicKind> {
  topic: GossipTopic;
  object: GossipObjects[K];
  /** Who passed it on, in base58btc; not the author, whom nobody knows. */
  peerId: string;
  /** The first verdict counts. */
  report(verdict: Verdict): void;
}
