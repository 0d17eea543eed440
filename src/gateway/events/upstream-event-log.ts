import { type BlockRef, type ChainEvent, headOf, isRewind, stringAt } from "./chain-event.ts";

const MAX_ENTRIES = 256;

interface Entry {
  /** The head that it announces. */
  readonly head?: BlockRef | undefined;
  /** Undefined where events may be missing: after the head at the time of connection, and after rejected events. */
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

  /** Marks that an event is missing. */
  addGap(): void {
    if (this.#entries.at(-1)?.event) this.#push({ head: this.head });
  }

  add(event: ChainEvent): void {
    const head = event.topic === "head" ? headOf(event) : undefined;
    this.#push({ event, head, isRewind: event.topic === "chain_reorg" && isRewind(event, this) });
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
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

  /** True if the upstream has announced a reorg from this head. */
  hasLeft(root: string): boolean {
    return this.events.some(
      ({ topic, value }) => topic === "chain_reorg" && stringAt(value, "old_head_block") === root,
    );
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

  /**
   * Returns the events after a head. Undefined if the block was not a head of the upstream, or if a block event may be
   * missing: a block that was imported before the connection can become the head later. Blocks after a gap are
   * published with the next head.
   */
  after(root: string): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex(({ head }) => head?.root === root);
    if (index === -1) return undefined;
    const gap = this.#lastGap;
    if (index > gap) return eventsOf(this.#entries.slice(index + 1));
    const events = eventsOf(this.#entries.slice(index + 1));
    const mayLackBlocks = events.some(({ topic }) => topic === "head" || topic === "chain_reorg");
    return mayLackBlocks ? undefined : events.filter(({ topic }) => topic !== "block");
  }

  /**
   * Returns the blocks after the last one for which `isKnown` returns true. Undefined if no such block follows the last
   * gap.
   */
  blocksAfter(isKnown: (root: string) => boolean): ChainEvent[] | undefined {
    const index = this.#entries.findLastIndex((entry) => isKnown(blockOf(entry) ?? ""));
    if (index <= this.#lastGap) return undefined;
    return eventsOf(this.#entries.slice(index + 1)).filter(({ topic }) => topic === "block");
  }

  /** True if a head was announced since the last gap. */
  get isContinuous(): boolean {
    return this.#entries.findLastIndex(({ event }) => event?.topic === "head") > this.#lastGap;
  }

  get #lastGap(): number {
    return this.#entries.findLastIndex(({ event }) => event === undefined);
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
