import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { BlockRange } from "../network/reqresp/beacon-requests.ts";

type BatchState = "waiting" | "downloading" | "downloaded" | "taken";

/** What remains of an answer: enough to tell later whether it was right. */
interface Answer {
  peerId: string;
  count: number;
  last: SignedBeaconBlock | null;
  isImported: boolean;
}

/** A run of slots whose blocks are asked of one peer at a time. */
export class Batch {
  readonly range: BlockRange;
  /** The peers that were asked already; the others come first. */
  readonly asked = new Set<string>();
  /** How often the blocks were refused, or did not fit what is around them. */
  refusals = 0;
  failures = 0;
  readonly #doubted: Answer[] = [];
  #state: BatchState = "waiting";
  #blocks: SignedBeaconBlock[] = [];
  #answer: Answer | null = null;

  constructor(range: BlockRange) {
    this.range = range;
  }

  get state(): BatchState {
    return this.#state;
  }

  get blocks(): SignedBeaconBlock[] {
    return this.#blocks;
  }

  /** The peer that gave the blocks. */
  get giver(): string | null {
    return this.#answer?.peerId ?? null;
  }

  get lastSlot(): Slot {
    return this.range.startSlot + this.range.count - 1;
  }

  asking(peerId: string): void {
    this.#state = "downloading";
    this.asked.add(peerId);
  }

  downloaded(peerId: string, blocks: SignedBeaconBlock[]): void {
    this.#state = "downloaded";
    this.#blocks = blocks;
    this.#answer = { peerId, count: blocks.length, last: blocks.at(-1) ?? null, isImported: false };
  }

  /** The blocks are on the chain; only what they were is remembered, in case that they turn out not to be all. */
  taken(): void {
    this.#state = "taken";
    if (this.#answer !== null) this.#answer.isImported = true;
    this.#blocks = [];
  }

  /** To be asked for again. */
  again(): void {
    this.#state = "waiting";
    this.#blocks = [];
    this.#answer = null;
  }

  /** To be asked for again, because this answer or that of a neighbour is wrong: the next answer will tell. */
  doubt(): void {
    if (this.#answer !== null) this.#doubted.push(this.#answer);
    this.again();
  }

  /** The peers that answered that there is no block. */
  emptyHanded(): Set<string> {
    const answers = this.#answer === null ? this.#doubted : [...this.#doubted, this.#answer];
    return new Set(answers.filter(({ count }) => count === 0).map(({ peerId }) => peerId));
  }

  /**
   * The peers whose answers were wrong, now that it is known which block of the chain is the last of these slots; null
   * means that there is none. Nobody is named when no answer was ever doubted.
   */
  takeMistaken(last: RootHex | null, rootOf: (signed: SignedBeaconBlock) => RootHex): Set<string> {
    const doubted = this.#doubted.splice(0);
    if (doubted.length === 0 || this.#answer === null) return new Set();
    const answers = [...doubted, this.#answer];
    const ending = answers.filter((answer) => (answer.last === null ? null : rootOf(answer.last)) === last);
    // Blocks that were imported have no hole among them, but the first ones may be missing where we had those already:
    // whoever gave more may well be right.
    const count = Math.max(...ending.filter(({ isImported }) => isImported).map((answer) => answer.count));
    const mistaken = answers.filter((answer) => !ending.includes(answer) || answer.count < count);
    return new Set(mistaken.map(({ peerId }) => peerId));
  }
}
