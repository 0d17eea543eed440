import type { StreamEvent } from "../../server/events/feed.ts";

type Tell = (event: StreamEvent) => void;

/**
 * Two connections that tell the same events, of which the new one has further topics and takes the place of the old one. As long as
 * both last the old one's events are told, in their order; afterwards those of the new one that did not come on the old one.
 */
export class Overlap {
  readonly #oldTopics: ReadonlySet<string>;
  readonly #tell: Tell;
  /** How often the old one has told what the new one has not. */
  readonly #toldByOld = new Map<string, number>();
  #heldBack: StreamEvent[] | undefined = [];

  constructor(oldTopics: Iterable<string>, tell: Tell) {
    this.#oldTopics = new Set(oldTopics);
    this.#tell = tell;
  }

  readonly fromOld: Tell = (event) => {
    const text = textOf(event);
    this.#toldByOld.set(text, (this.#toldByOld.get(text) ?? 0) + 1);
    this.#tell(event);
  };

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

  #pass(event: StreamEvent): void {
    if (this.#oldTopics.has(event.topic) && this.#toldByOld.size > 0) {
      const text = textOf(event);
      const count = this.#toldByOld.get(text) ?? 0;
      if (count > 1) this.#toldByOld.set(text, count - 1);
      else this.#toldByOld.delete(text);
      if (count > 0) return;
      // Both tell in the same order: what the old one has told lies behind.
      this.#toldByOld.clear();
    }
    this.#tell(event);
  }
}

const textOf = ({ topic, data }: StreamEvent): string => `${topic} ${data.toString("latin1")}`;
