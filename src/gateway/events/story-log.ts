import { type BlockPlace, type ChainEvent, goesBack, headOf, textAt } from "./chain-event.ts";

const MAX_ENTRIES = 256;

interface Entry {
  /** The head that it made known. */
  readonly head?: BlockPlace;
  /** Nothing for the head that was there when the log began. */
  readonly event?: ChainEvent;
  /** Whether its chain has gone back with it. */
  readonly isBack?: boolean;
}

/** What an upstream told of its blocks and of the chain that it follows since it has been connected: with it, it can take over. */
export class StoryLog {
  #entries: Entry[] = [];

  clear(): void {
    this.#entries = [];
  }

  /** The head that the upstream had when it was connected. */
  beginAt(head: BlockPlace): void {
    this.#entries.unshift({ head });
  }

  add(event: ChainEvent): void {
    const head = event.topic === "head" ? headOf(event) : undefined;
    this.#entries.push({ event, head, isBack: event.topic === "chain_reorg" && goesBack(event, this) });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  /** The upstream's head. */
  get head(): BlockPlace | undefined {
    return this.#entries.findLast(({ head }) => head)?.head;
  }

  /** A head that it has had. */
  headWith(root: string): BlockPlace | undefined {
    return this.#entries.findLast(({ head }) => head?.root === root)?.head;
  }

  /** The head that it had when the log began, where that is known. */
  get beginning(): BlockPlace | undefined {
    const [first] = this.#entries;
    return first?.event ? undefined : first?.head;
  }

  /** What it told after it had made this block its head; undefined if it has not. */
  after(root: string): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex(({ head }) => head?.root === root);
    return index === -1 ? undefined : eventsOf(this.#entries.slice(index + 1));
  }

  /** The blocks that it told after the last one of which `isKnown` says so; undefined if there is none. */
  blocksAfter(isKnown: (root: string) => boolean): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex((entry) => isKnown(blockOf(entry) ?? ""));
    if (index === -1) return undefined;
    return eventsOf(this.#entries.slice(index + 1)).filter(({ topic }) => topic === "block");
  }

  get events(): ChainEvent[] {
    return eventsOf(this.#entries);
  }

  /** What it told after its chain has gone back for the last time: before it, there may be blocks that it has left. */
  get eventsSinceBack(): ChainEvent[] {
    return eventsOf(this.#entries.slice(this.#entries.findLastIndex(({ isBack }) => isBack) + 1));
  }
}

const blockOf = ({ head, event }: Entry): string | undefined =>
  head?.root ?? (event?.topic === "block" ? textAt(event.value, "block") : undefined);

const eventsOf = (entries: readonly Entry[]): ChainEvent[] => entries.flatMap(({ event }) => event ?? []);
