import { type BlockRef, type ChainEvent, headOf, isRewind, stringAt } from "./chain-event.ts";

const MAX_ENTRIES = 256;

interface Entry {
  /** The head that it announces. */
  readonly head?: BlockRef;
  /** Undefined for the initial head. */
  readonly event?: ChainEvent;
  /** True for a reorg to an earlier slot. */
  readonly isRewind?: boolean;
}

/** Chain events of one upstream since it was connected. Allows it to take over as leader. */
export class UpstreamEventLog {
  #entries: Entry[] = [];

  clear(): void {
    this.#entries = [];
  }

  /** Adds the head at the time of connection. */
  startAt(head: BlockRef): void {
    this.#entries.unshift({ head });
  }

  add(event: ChainEvent): void {
    const head = event.topic === "head" ? headOf(event) : undefined;
    this.#entries.push({ event, head, isRewind: event.topic === "chain_reorg" && isRewind(event, this) });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  get head(): BlockRef | undefined {
    return this.#entries.findLast(({ head }) => head)?.head;
  }

  /** Root of the head after the last reorg. */
  get reorgedTo(): string | undefined {
    const reorg = this.#entries.findLast(({ event }) => event?.topic === "chain_reorg")?.event;
    return stringAt(reorg?.value, "new_head_block");
  }

  /** Finds a current or former head. */
  findHead(root: string): BlockRef | undefined {
    return this.#entries.findLast(({ head }) => head?.root === root)?.head;
  }

  /** The head at the time of connection, if known. */
  get initialHead(): BlockRef | undefined {
    const [first] = this.#entries;
    return first?.event ? undefined : first?.head;
  }

  /** Returns the events after a head, or undefined if the block was not its head. */
  after(root: string): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex(({ head }) => head?.root === root);
    return index === -1 ? undefined : eventsOf(this.#entries.slice(index + 1));
  }

  /** Returns the blocks after the last one for which `isKnown` returns true, or undefined if there is none. */
  blocksAfter(isKnown: (root: string) => boolean): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex((entry) => isKnown(blockOf(entry) ?? ""));
    if (index === -1) return undefined;
    return eventsOf(this.#entries.slice(index + 1)).filter(({ topic }) => topic === "block");
  }

  get events(): ChainEvent[] {
    return eventsOf(this.#entries);
  }

  /** Events since the last rewind. Earlier ones may be about abandoned blocks. */
  get eventsSinceRewind(): ChainEvent[] {
    return eventsOf(this.#entries.slice(this.#entries.findLastIndex(({ isRewind }) => isRewind) + 1));
  }
}

const blockOf = ({ head, event }: Entry): string | undefined =>
  head?.root ?? (event?.topic === "block" ? stringAt(event.value, "block") : undefined);

const eventsOf = (entries: readonly Entry[]): ChainEvent[] => entries.flatMap(({ event }) => event ?? []);
