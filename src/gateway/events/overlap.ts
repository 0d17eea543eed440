import { hash } from "node:crypto";
import type { StreamEvent } from "../../server/events/feed.ts";

type Tell = (event: StreamEvent) => void;

/** What the old one has told of a topic, in order, and where the new one has come to in it. */
interface ToldByOld {
  readonly digests: string[];
  next: number;
}

/**
 * Two connections that tell the same events, of which the new one has other topics and takes the place of the old one. As long as
 * both last the old one's events are told, in their order; afterwards those of the new one that did not come on the old one.
 */
export class Overlap {
  readonly #toldByOld: ReadonlyMap<string, ToldByOld>;
  readonly #tell: Tell;
  #heldBack: StreamEvent[] | undefined = [];

  /** It begins before the new one is asked for, which may tell late what has happened since then. */
  constructor(commonTopics: readonly string[], tell: Tell) {
    this.#toldByOld = new Map(commonTopics.map((topic) => [topic, { digests: [], next: 0 }]));
    this.#tell = tell;
  }

  /** The old one has told this. */
  noteOld(event: StreamEvent): void {
    this.#toldByOld.get(event.topic)?.digests.push(digestOf(event));
  }

  readonly fromNew: Tell = (event) => {
    if (this.#heldBack) this.#heldBack.push(event);
    else this.#pass(event);
  };

  /** The old one is not read any more. */
  end(): void {
    const heldBack = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const event of heldBack) this.#pass(event);
  }

  /** Both tell a topic in the same order: what the old one told before something that the new one tells lies behind. */
  #pass(event: StreamEvent): void {
    const told = this.#toldByOld.get(event.topic);
    if (told && told.next < told.digests.length) {
      const index = told.digests.indexOf(digestOf(event), told.next);
      told.next = index === -1 ? told.digests.length : index + 1;
      if (told.next === told.digests.length) told.digests.length = told.next = 0;
      if (index !== -1) return;
    }
    this.#tell(event);
  }
}

/** Thousands are kept where attestations are followed. */
const digestOf = ({ data }: StreamEvent): string => hash("sha256", data, "base64url");
