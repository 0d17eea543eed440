import type { ChainSpec } from "../network/chain-spec.ts";
import {
  type ChainEvent,
  type FinalizedCheckpoint,
  finalizedOf,
  type Head,
  headOf,
  isRewind,
  numberAt,
  reorgAncestorSlot,
  stringAt,
} from "./chain-event.ts";
import { objectKey } from "./topics.ts";

/** Number of heads to which a chain can be rewound. */
const MAX_HEADS = 256;
/** Per topic. A mainnet slot has about 30,000 attestations. */
const MAX_OBJECTS = 100_000;

/** A finalized checkpoint, and the slot of the head when it was announced. */
interface FinalizedAt {
  readonly finalized: FinalizedCheckpoint;
  readonly headSlot: number;
}

/**
 * Events that the gateway has published, for deduplication and failover. Old events that upstreams no longer repeat are
 * dropped.
 */
export class AnnouncedEvents {
  readonly #slotsPerEpoch: number;
  /** Announced ancestors of the last head, and the head itself. */
  #heads = new Map<string, Head>();
  #head: Head | undefined;
  /** Newest last. */
  #finalized: FinalizedAt[] = [];
  /** Keys of announced objects by topic, oldest first, with the head slot at that time. */
  #objects = new Map<string, Map<string, number>>();
  /** The last event of each other topic. */
  #last = new Map<string, string>();

  constructor({ slotsPerEpoch }: Pick<ChainSpec, "slotsPerEpoch">) {
    this.#slotsPerEpoch = slotsPerEpoch;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  get finalized(): FinalizedCheckpoint | undefined {
    return this.#finalized.at(-1)?.finalized;
  }

  /** Finds an announced head by root: the last head or one of its ancestors. */
  findHead(root: string): Head | undefined {
    return this.#heads.get(root);
  }

  /** True if a block was announced, as a block or as a head. */
  hasBlock(root: string): boolean {
    return this.#heads.has(root) || this.#objects.get("block")?.has(root) === true;
  }

  /** The oldest announced head that is remembered. */
  get firstHead(): Head | undefined {
    const [first] = this.#heads.values();
    return first;
  }

  /** Sets the initial head and finalized checkpoint without an event. */
  startAt(head: Head, finalized: FinalizedCheckpoint | undefined): void {
    this.#addHead(head);
    this.#finalized = [];
    if (finalized) this.#addFinalized(finalized);
  }

  has(event: ChainEvent): boolean {
    const { topic } = event;
    if (topic === "head") return headOf(event)?.root === this.#head?.root;
    if (topic === "finalized_checkpoint") return (finalizedOf(event)?.epoch ?? -1) <= (this.finalized?.epoch ?? -1);
    const key = objectKey(event);
    return key === undefined ? this.#last.get(topic) === viewKey(event) : !!this.#objects.get(topic)?.has(key);
  }

  add(event: ChainEvent): void {
    const { topic } = event;
    const key = objectKey(event);
    if (key !== undefined) this.#addObject(topic, key);
    else this.#last.set(topic, viewKey(event));
    if (topic === "chain_reorg") this.#dropBranch(event);
    const finalized = topic === "finalized_checkpoint" ? finalizedOf(event) : undefined;
    if (finalized) this.#addFinalized(finalized);
    const head = topic === "head" ? headOf(event) : undefined;
    if (head) this.#addHead(head);
  }

  copy(): AnnouncedEvents {
    const copy = new AnnouncedEvents({ slotsPerEpoch: this.#slotsPerEpoch });
    copy.#heads = new Map(this.#heads);
    copy.#head = this.#head;
    copy.#finalized = [...this.#finalized];
    copy.#objects = new Map(Array.from(this.#objects, ([topic, keys]) => [topic, new Map(keys)]));
    copy.#last = new Map(this.#last);
    return copy;
  }

  #addObject(topic: string, key: string): void {
    const keys = this.#objects.get(topic) ?? new Map();
    this.#objects.set(topic, keys.set(key, this.#headSlot));
    dropOldest(keys, MAX_OBJECTS);
  }

  #addFinalized(finalized: FinalizedCheckpoint): void {
    this.#finalized.push({ finalized, headSlot: this.#headSlot });
    if (this.#finalized.length > MAX_HEADS) this.#finalized.shift();
  }

  get #headSlot(): number {
    return this.#head?.slot ?? -1;
  }

  #addHead(head: Head): void {
    this.#head = head;
    // Leaving this head again is a new reorg.
    if (this.#last.get("chain_reorg")?.startsWith(head.root)) this.#last.delete("chain_reorg");
    this.#heads.delete(head.root);
    this.#heads.set(head.root, head);
    dropOldest(this.#heads, MAX_HEADS);
  }

  /** Drops the heads of a reorged branch. Some clients announce the new head before the reorg, others after it. */
  #dropBranch(event: ChainEvent): void {
    const ancestorSlot = reorgAncestorSlot(event, this);
    if (ancestorSlot === undefined) return;
    const hasRewound = isRewind(event, this);
    const newSlot = numberAt(event.value, "slot") ?? 0;
    const newHead = stringAt(event.value, "new_head_block") ?? "";
    for (const { slot, root } of this.#heads.values()) {
      if (slot > ancestorSlot && root !== newHead) this.#heads.delete(root);
    }
    // After a rewind, the new head was announced before and is announced again.
    if (newHead !== this.#head?.root) this.#heads.delete(newHead);
    // Only a dev chain is rewound behind finality or to an ancestor of its head. Its events may then repeat.
    const isBehindFinality = ancestorSlot < (this.finalized?.epoch ?? 0) * this.#slotsPerEpoch;
    if (!isBehindFinality && newSlot !== ancestorSlot) return;
    this.#finalized = this.#finalized.filter(({ headSlot }) => headSlot < ancestorSlot);
    if (hasRewound) this.#dropObjectsSince(newSlot);
  }

  /** Drops the objects that were announced since the head had this slot, because they may occur again. */
  #dropObjectsSince(slot: number): void {
    for (const keys of this.#objects.values()) {
      for (const [key, headSlot] of keys) if (headSlot >= slot) keys.delete(key);
    }
  }
}

function viewKey({ topic, value, data }: ChainEvent): string {
  if (topic === "chain_reorg") return `${stringAt(value, "old_head_block")} ${stringAt(value, "new_head_block")}`;
  return data.toString();
}

function dropOldest(entries: Map<string, unknown>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(oldest);
  }
}
