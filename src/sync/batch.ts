import type { RootHex, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { BlockRange } from "../network/reqresp/interface.ts";

type BatchState = "waiting" | "downloading" | "downloaded" | "taken";

/** What remains of an answer: enough to tell later whether it was right. */
interface Answer {
  peerId: string;
  count: number;
  last: SignedBeaconBlock | null;
  isImported: boolean;
}

/** What a chain has in the slots of a batch. */
interface ChainPart {
  /** Its last block there; null means that there is none. */
  last: RootHex | null;
  /** The block at that slot or before it. */
  rootAt(slot: Slot): RootHex | undefined;
  rootOf(signed: SignedBeaconBlock): RootHex;
}

/** Peers whose answers lack blocks of a chain, and peers whose answers are of another one. */
export interface FaultyPeers {
  withheld: string[];
  strayed: string[];
}

/** A run of slots whose blocks are asked of one peer at a time. */
export class Batch {
  readonly range: BlockRange;
  /** How often each peer was asked; the others come first. */
  readonly asked = new Map<string, number>();
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
    this.asked.set(peerId, (this.asked.get(peerId) ?? 0) + 1);
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
  emptyHanded(): string[] {
    const answers = this.#answer === null ? this.#doubted : [...this.#doubted, this.#answer];
    return answers.filter(({ count }) => count === 0).map(({ peerId }) => peerId);
  }

  /** Whether there were answers that cannot all be right. */
  get isDisputed(): boolean {
    return this.#doubted.length > 0;
  }

  /** The peers whose answers were wrong, if the chain is this one. Nobody is named when no answer was ever doubted. */
  faultyPeers({ last, rootAt, rootOf }: ChainPart): FaultyPeers {
    if (!this.isDisputed || this.#answer === null) return { withheld: [], strayed: [] };
    const answers = [...this.#doubted, this.#answer].map((answer) => {
      const root = answer.last && rootOf(answer.last);
      return { ...answer, root, isOfChain: answer.last === null || rootAt(answer.last.message.slot) === root };
    });
    // Blocks that were imported have no hole among them, but the first ones may be missing where we had those already:
    // whoever gave more may well be right.
    const imported = answers.filter(({ root, isImported }) => root === last && isImported);
    const count = Math.max(...imported.map((answer) => answer.count));
    const faulty = answers.filter((answer) => answer.root !== last || answer.count < count);
    return {
      withheld: faulty.filter(({ isOfChain }) => isOfChain).map(({ peerId }) => peerId),
      strayed: faulty.filter(({ isOfChain }) => !isOfChain).map(({ peerId }) => peerId),
    };
  }
}
