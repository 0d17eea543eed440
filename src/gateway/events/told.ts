import type { ChainFacts } from "../chain-facts.ts";
import {
  ancestorSlotOf,
  type ChainEvent,
  type Finalized,
  finalizedOf,
  goesBack,
  type Head,
  headOf,
  numberAt,
  textAt,
} from "./chain-event.ts";
import { objectKey } from "./topics.ts";

/** So many heads can be gone back to. */
const MAX_HEADS = 256;
/** Of a topic; a slot of mainnet has some thirty thousand attestations. */
const MAX_OBJECTS = 100_000;

/** What became final, and the slot of the last head when it was told. */
interface FinalizedAt {
  readonly finalized: Finalized;
  readonly headSlot: number;
}

/** What readers have been told, as far back as somebody could tell it again. */
export class Told {
  readonly #slotsPerEpoch: number;
  /** Those that the last one builds on, as far as was told. */
  #heads = new Map<string, Head>();
  #head: Head | undefined;
  /** The newest last. */
  #finalized: FinalizedAt[] = [];
  /** By topic the keys of objects, the oldest first, and the slot of the last head when each was told. */
  #objects = new Map<string, Map<string, number>>();
  /** Of other topics, the last event. */
  #last = new Map<string, string>();

  constructor({ slotsPerEpoch }: Pick<ChainFacts, "slotsPerEpoch">) {
    this.#slotsPerEpoch = slotsPerEpoch;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  get finalized(): Finalized | undefined {
    return this.#finalized.at(-1)?.finalized;
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

  note(event: ChainEvent): void {
    const { topic } = event;
    const key = objectKey(event);
    if (key !== undefined) this.#addObject(topic, key);
    else this.#last.set(topic, viewKey(event));
    if (topic === "chain_reorg") this.#leaveBranch(event);
    const finalized = topic === "finalized_checkpoint" ? finalizedOf(event) : undefined;
    if (finalized) this.#addFinalized(finalized);
    const head = topic === "head" ? headOf(event) : undefined;
    if (head) this.#addHead(head);
  }

  copy(): Told {
    const copy = new Told({ slotsPerEpoch: this.#slotsPerEpoch });
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

  #addFinalized(finalized: Finalized): void {
    this.#finalized.push({ finalized, headSlot: this.#headSlot });
    if (this.#finalized.length > MAX_HEADS) this.#finalized.shift();
  }

  get #headSlot(): number {
    return this.#head?.slot ?? -1;
  }

  #addHead(head: Head): void {
    this.#head = head;
    // To leave it once more is news.
    if (this.#last.get("chain_reorg")?.startsWith(head.root)) this.#last.delete("chain_reorg");
    this.#heads.delete(head.root);
    this.#heads.set(head.root, head);
    dropOldest(this.#heads, MAX_HEADS);
  }

  /** Some clients tell of the new head before they tell of the reorganisation, others afterwards. */
  #leaveBranch(event: ChainEvent): void {
    const ancestorSlot = ancestorSlotOf(event, this);
    if (ancestorSlot === undefined) return;
    const isBack = goesBack(event, this);
    const newSlot = numberAt(event.value, "slot") ?? 0;
    const newHead = textAt(event.value, "new_head_block") ?? "";
    for (const { slot, root } of this.#heads.values()) {
      if (slot > ancestorSlot && root !== newHead) this.#heads.delete(root);
    }
    // A chain that only goes back has a head that was told before, and is told again.
    if (newHead !== this.#head?.root) this.#heads.delete(newHead);
    // Only a dev chain goes back so far, or to a block that its head builds on: what happens on it is news.
    const isBehindFinality = ancestorSlot < (this.finalized?.epoch ?? 0) * this.#slotsPerEpoch;
    if (!isBehindFinality && newSlot !== ancestorSlot) return;
    this.#finalized = this.#finalized.filter(({ headSlot }) => headSlot < ancestorSlot);
    if (isBack) this.#forgetObjectsSince(newSlot);
  }

  /** What was told since there was a head of this slot may happen again. */
  #forgetObjectsSince(slot: number): void {
    for (const keys of this.#objects.values()) {
      for (const [key, headSlot] of keys) if (headSlot >= slot) keys.delete(key);
    }
  }
}

function viewKey({ topic, value, data }: ChainEvent): string {
  if (topic === "chain_reorg") return `${textAt(value, "old_head_block")} ${textAt(value, "new_head_block")}`;
  return data.toString();
}

function dropOldest(entries: Map<string, unknown>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(oldest);
  }
}
