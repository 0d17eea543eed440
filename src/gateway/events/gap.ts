import { OperationalError } from "../../errors/operational-error.ts";
import {
  type ChainEvent,
  type DependentRoots,
  finalizedOf,
  type Head,
  headOf,
  makeEvent,
  numberAt,
  textAt,
} from "./chain-event.ts";
import type { Told } from "./told.ts";

/** What a GET of the path is answered with; undefined when there is no such thing. */
export type AskPath = (path: string) => Promise<Buffer | undefined>;

/** A longer gap is not filled. */
const MAX_BLOCKS = 128;
/** How far back the last block before an epoch is looked for. */
const MAX_EMPTY_SLOTS = 64;

interface Header {
  readonly root: string;
  readonly slot: number;
  readonly parentRoot: string;
  readonly stateRoot: string;
  readonly isOptimistic: boolean;
}

/** Finds out by asking an upstream what was not told of the chain that it follows. */
export class Gap {
  readonly #told: Told;
  readonly #heard: readonly ChainEvent[];
  readonly #slotsPerEpoch: number;
  readonly #ask: AskPath;

  /** What is among `heard`, the upstream's own events, is told in its words. */
  constructor(told: Told, heard: readonly ChainEvent[], slotsPerEpoch: number, ask: AskPath) {
    this.#told = told;
    this.#heard = heard;
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#ask = ask;
  }

  /**
   * What happened between the last head that was told and this one: a block and a head for each, and a reorganisation where it does
   * not build on the last one. Undefined when the way is too long.
   */
  async events(target: string): Promise<ChainEvent[] | undefined> {
    const last = this.#told.head;
    const way = last && (await this.#wayTo(target));
    if (!way) return undefined;
    const { ancestor, branch } = way;
    if (branch.length === 0) return this.backTo(target);
    const isReorg = ancestor.root !== last.root;
    // No node goes over to a block that is older than its head, if it has another.
    const newer = branch.findIndex(({ slot }) => slot > last.slot);
    const whereToGo = newer === -1 ? branch.length - 1 : newer;
    const firstHead = isReorg ? whereToGo : 0;
    const events: ChainEvent[] = [];
    let parent = {
      ...ancestor,
      dependentRoots: ancestor.dependentRoots ?? (await this.#dependentRootsAt(ancestor.slot)),
    };
    for (const [index, header] of branch.entries()) {
      const head = { ...header, dependentRoots: this.#dependentRootsAfter(parent, header.slot) };
      events.push(blockEvent(header));
      if (isReorg && index === firstHead) events.push(this.#reorgEvent(last, ancestor.slot, header));
      if (index >= firstHead) events.push(this.#headEvent(parent, head));
      parent = head;
    }
    return events;
  }

  /** That the chain has gone back to this block, from which on it is another one. */
  async backTo(target: string): Promise<ChainEvent[]> {
    const last = this.#told.head!;
    const header = await this.#header(target);
    const dependentRoots = this.#told.headWith(target)?.dependentRoots ?? (await this.#dependentRootsAt(header.slot));
    return [this.#reorgEvent(last, header.slot, header), this.#headEvent(last, { ...header, dependentRoots })];
  }

  /** The upstream's finalized checkpoint, when it is a later one than was told. */
  async finality(): Promise<ChainEvent[]> {
    const { finalized } = this.#told;
    if (!finalized) return [];
    const answer = await this.#read("/eth/v1/beacon/states/head/finality_checkpoints");
    const epoch = numberAt(answer, "data", "finalized", "epoch");
    const root = textAt(answer, "data", "finalized", "root");
    if (epoch === undefined || root === undefined || epoch <= finalized.epoch) return [];
    const inItsWords = this.#heard.findLast(
      (event) => event.topic === "finalized_checkpoint" && finalizedOf(event)?.epoch === epoch,
    );
    if (inItsWords) return [inItsWords];
    const { slot, stateRoot, isOptimistic } = await this.#header(root);
    const epochStart = epoch * this.#slotsPerEpoch;
    return [
      makeEvent("finalized_checkpoint", {
        block: root,
        state: slot === epochStart ? stateRoot : ((await this.#stateRootAt(epochStart)) ?? stateRoot),
        epoch: String(epoch),
        execution_optimistic: isOptimistic,
      }),
    ];
  }

  /** Where the slot is empty, its state is another one than that after the last block. Some no longer have it. */
  async #stateRootAt(slot: number): Promise<string | undefined> {
    return textAt(await this.#read(`/eth/v1/beacon/states/${slot}/root`), "data", "root");
  }

  /** From a head that was told, which is not among the branch, to the target. */
  async #wayTo(target: string): Promise<{ ancestor: Head; branch: Header[] } | undefined> {
    const branch: Header[] = [];
    for (let root = target; branch.length <= MAX_BLOCKS; root = branch[0]!.parentRoot) {
      const ancestor = this.#told.headWith(root);
      if (ancestor) return { ancestor, branch };
      if (branch[0]?.slot === 0) return undefined;
      branch.unshift(await this.#header(root));
    }
    return undefined;
  }

  async #header(blockId: string): Promise<Header> {
    const header = readHeader(await this.#read(`/eth/v1/beacon/headers/${blockId}`));
    if (!header) throw new OperationalError(`It gave no header of block ${blockId}.`);
    return header;
  }

  async #read(path: string): Promise<unknown> {
    const answer = await this.#ask(path);
    return answer && JSON.parse(answer.toString());
  }

  /** Those of a chain that goes on after a head without a block between. */
  #dependentRootsAfter({ slot, root, dependentRoots }: KnownHead, nextSlot: number): DependentRoots {
    const epochs = this.#epochOf(nextSlot) - this.#epochOf(slot);
    if (epochs === 0) return dependentRoots;
    return { previous: epochs === 1 ? dependentRoots.current : root, current: root };
  }

  async #dependentRootsAt(slot: number): Promise<DependentRoots> {
    const epochStart = this.#epochOf(slot) * this.#slotsPerEpoch;
    return {
      previous: await this.#lastRootBefore(epochStart - this.#slotsPerEpoch),
      current: await this.#lastRootBefore(epochStart),
    };
  }

  /** Before the genesis block there is none: it stands for itself. */
  async #lastRootBefore(slot: number): Promise<string> {
    for (let before = slot - 1; before > 0 && before >= slot - MAX_EMPTY_SLOTS; before--) {
      const root = textAt(await this.#read(`/eth/v1/beacon/blocks/${before}/root`), "data", "root");
      if (root !== undefined) return root;
    }
    return (await this.#header("genesis")).root;
  }

  #headEvent(parent: Head, head: Header & KnownHead): ChainEvent {
    const inItsWords = this.#heard.find((event) => event.topic === "head" && headOf(event)?.root === head.root);
    return (
      inItsWords ??
      makeEvent("head", {
        slot: String(head.slot),
        block: head.root,
        state: head.stateRoot,
        epoch_transition: this.#epochOf(parent.slot) < this.#epochOf(head.slot),
        previous_duty_dependent_root: head.dependentRoots.previous,
        current_duty_dependent_root: head.dependentRoots.current,
        execution_optimistic: head.isOptimistic,
      })
    );
  }

  #reorgEvent(old: Head, ancestorSlot: number, head: Header): ChainEvent {
    return makeEvent("chain_reorg", {
      slot: String(head.slot),
      depth: String(old.slot - ancestorSlot),
      old_head_block: old.root,
      new_head_block: head.root,
      old_head_state: old.stateRoot,
      new_head_state: head.stateRoot,
      epoch: String(this.#epochOf(head.slot)),
      execution_optimistic: head.isOptimistic,
    });
  }

  #epochOf(slot: number): number {
    return Math.floor(slot / this.#slotsPerEpoch);
  }
}

type KnownHead = Head & { readonly dependentRoots: DependentRoots };

/** Of an answer of `/eth/v1/beacon/headers/{block_id}`. */
export function readHeader(answer: unknown): Header | undefined {
  const root = textAt(answer, "data", "root");
  const slot = numberAt(answer, "data", "header", "message", "slot");
  const parentRoot = textAt(answer, "data", "header", "message", "parent_root");
  const stateRoot = textAt(answer, "data", "header", "message", "state_root");
  if (root === undefined || slot === undefined || parentRoot === undefined || stateRoot === undefined) return undefined;
  return { root, slot, parentRoot, stateRoot, isOptimistic: textAt(answer, "execution_optimistic") === "true" };
}

function blockEvent({ slot, root, isOptimistic }: Header): ChainEvent {
  return makeEvent("block", { slot: String(slot), block: root, execution_optimistic: isOptimistic });
}
