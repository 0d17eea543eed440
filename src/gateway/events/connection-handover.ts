import { hash } from "node:crypto";
import type { StreamEvent } from "../../server/events/feed.ts";

type Publish = (event: StreamEvent) => void;

/** Digests of the old connection's events of a topic, and how many of them the new one has repeated. */
interface OldTopicEvents {
  readonly digests: string[];
  next: number;
}

/**
 * Replaces an SSE connection by one with other topics, without gaps or duplicates. While both are open, the events of
 * the old one are published. Then follow those of the new one that the old one did not deliver.
 */
export class ConnectionHandover {
  readonly #oldEvents: ReadonlyMap<string, OldTopicEvents>;
  readonly #publish: Publish;
  #buffered: StreamEvent[] | undefined = [];

  /** Must be created before the new connection is requested, which may deliver later events first. */
  constructor(commonTopics: readonly string[], publish: Publish) {
    this.#oldEvents = new Map(commonTopics.map((topic) => [topic, { digests: [], next: 0 }]));
    this.#publish = publish;
  }

  /** Records an event of the old connection. */
  recordOld(event: StreamEvent): void {
    this.#oldEvents.get(event.topic)?.digests.push(digestOf(event));
  }

  readonly onNewEvent: Publish = (event) => {
    if (this.#buffered) this.#buffered.push(event);
    else this.#pass(event);
  };

  /** Called when the old connection is closed. */
  end(): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = undefined;
    for (const event of buffered) this.#pass(event);
  }

  /** Skips events that the old connection delivered. Both deliver a topic in the same order. */
  #pass(event: StreamEvent): void {
    const old = this.#oldEvents.get(event.topic);
    if (old && old.next < old.digests.length) {
      const index = old.digests.indexOf(digestOf(event), old.next);
      old.next = index === -1 ? old.digests.length : index + 1;
      if (old.next === old.digests.length) old.digests.length = old.next = 0;
      if (index !== -1) return;
    }
    this.#publish(event);
  }
}

/** Digests save memory: with attestations there are thousands. */
const digestOf = ({ data }: StreamEvent): string => hash("sha256", data, "base64url");
