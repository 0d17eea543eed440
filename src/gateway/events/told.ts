import type { ChainFacts } from "../chain-facts.ts";
import {
  ancestorSlotOf,
  type ChainEvent,
  type Finalized,
  finalizedOf,
  type Head,
  headOf,
  textAt,
} from "./chain-event.ts";
import { objectKey } from "./topics.ts";

/** So many heads can be gone back to. */
const MAX_HEADS = 256;
/** Of a topic; a slot of mainnet has some thirty thousand attestations. */
const MAX_OBJECTS = 100_000;

/** What readers have been told, as far back as somebody could tell it again. */
export class Told {
  readonly #slotsPerEpoch: number;
  /** Those that the last one builds on, as far as was told. */
  #heads = new Map<string, Head>();
  #head: Head | undefined;
  #finalized: Finalized | undefined;
  /** The keys of objects, by topic, the oldest first. */
  #objects = new Map<string, Set<string>>();
  /** Of other topics, the last event. */
  #last = new Map<string, string>();

  constructor({ slotsPerEpoch }: Pick<ChainFacts, "slotsPerEpoch">) {
    this.#slotsPerEpoch = slotsPerEpoch;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  get finalized(): Finalized | undefined {
    return this.#finalized;
  }

  /** A head that was told, and that the last one builds on. */
  headWith(root: string): Head | undefined {
    return this.#heads.get(root);
  }

  /** Whether a block was told, by itself or as a head. */
  hasBlock(root: string): boolean {
    return this.#heads.has(root) || this.#objects.get("block")?.has(root) === true;
  }

  /** The oldest head that is known to have been told. */
  get firstHead(): Head | undefined {
    const [first] = this.#heads.values();
    return first;
  }

  /** Where the story begins, although nobody is told. */
  beginAt(head: Head, finalized: Finalized | undefined): void {
    this.#addHead(head);
    this.#finalized = finalized;
  }

  has(event: ChainEvent): boolean {
    const { topic } = event;
    if (topic === "head") return headOf(event)?.root === this.#head?.root;
    if (topic === "finalized_checkpoint") return (finalizedOf(event)?.epoch ?? -1) <= (this.#finalized?.epoch ?? -1);
    const key = objectKey(event);
    return key === undefined ? this.#last.get(topic) === viewKey(event) : !!this.#objects.get(topic)?.has(key);
  }

  note(event: ChainEvent): void {
    const { topic } = event;
    const key = objectKey(event);
    if (key !== undefined) this.#addObject(topic, key);
    else this.#last.set(topic, viewKey(event));
    if (topic === "chain_reorg") this.#leaveBranch(event);
    if (topic === "finalized_checkpoint") this.#finalized = finalizedOf(event) ?? this.#finalized;
    const head = topic === "head" ? headOf(event) : undefined;
    if (head) this.#addHead(head);
  }

  copy(): Told {
    const copy = new Told({ slotsPerEpoch: this.#slotsPerEpoch });
    copy.#heads = new Map(this.#heads);
    copy.#head = this.#head;
    copy.#finalized = this.#finalized;
    copy.#objects = new Map(Array.from(this.#objects, ([topic, keys]) => [topic, new Set(keys)]));
    copy.#last = new Map(this.#last);
    return copy;
  }

  #addObject(topic: string, key: string): void {
    const keys = this.#objects.get(topic) ?? new Set();
    this.#objects.set(topic, keys.add(key));
    dropOldest(keys, MAX_OBJECTS);
  }

  #addHead(head: Head): void {
    this.#head = head;
    this.#heads.delete(head.root);
    this.#heads.set(head.root, head);
    dropOldest(this.#heads, MAX_HEADS);
  }

  /** Some clients tell of the new head before they tell of the reorganisation, others afterwards. */
  #leaveBranch(event: ChainEvent): void {
    const ancestorSlot = ancestorSlotOf(event, this);
    if (ancestorSlot === undefined) return;
    const newHead = textAt(event.value, "new_head_block") ?? "";
    for (const { slot, root } of this.#heads.values()) {
      if (slot > ancestorSlot && root !== newHead) this.#heads.delete(root);
    }
    // A chain that only goes back has a head that was told before, and is told again.
    if (newHead !== this.#head?.root) this.#heads.delete(newHead);
    // Only a dev chain goes back so far: what becomes final on it is news.
    if (this.#finalized && ancestorSlot < this.#finalized.epoch * this.#slotsPerEpoch) this.#finalized = undefined;
  }
}

function viewKey({ topic, value, data }: ChainEvent): string {
  if (topic === "chain_reorg") return `${textAt(value, "old_head_block")} ${textAt(value, "new_head_block")}`;
  return data.toString();
}

function dropOldest(entries: Map<string, unknown> | Set<string>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(oldest);
  }
}
