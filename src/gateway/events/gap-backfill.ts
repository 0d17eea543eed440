import { OperationalError } from "../../errors/operational-error.ts";
import { memberOf } from "../upstream/client/json-fields.ts";
import { headerRoot, requestedRoot } from "../validation/requested-roots.ts";
import type { AnnouncedEvents } from "./announced-events.ts";
import {
  type ChainEvent,
  createEvent,
  type DependentRoots,
  finalizedOf,
  type Head,
  headOf,
  numberAt,
  stringAt,
} from "./chain-event.ts";

/** Fetches a path. Undefined for 404. */
export type FetchPath = (path: string) => Promise<Buffer | undefined>;

/** Longer gaps are not filled. */
const MAX_BLOCKS = 128;
/** How far back the last block before an epoch is searched. */
const MAX_EMPTY_SLOTS = 64;

interface Header {
  readonly root: string;
  readonly slot: number;
  readonly parentRoot: string;
  readonly stateRoot: string;
  readonly isOptimistic: boolean;
}

/** Reconstructs missed chain events by requests to an upstream. */
export class GapBackfill {
  readonly #announced: AnnouncedEvents;
  readonly #upstreamEvents: readonly ChainEvent[];
  readonly #slotsPerEpoch: number;
  readonly #fetch: FetchPath;

  /** Events in `upstreamEvents`, which the upstream itself sent, are used verbatim. */
  constructor(
    announced: AnnouncedEvents,
    upstreamEvents: readonly ChainEvent[],
    slotsPerEpoch: number,
    fetch: FetchPath,
  ) {
    this.#announced = announced;
    this.#upstreamEvents = upstreamEvents;
    this.#slotsPerEpoch = slotsPerEpoch;
    this.#fetch = fetch;
  }

  /**
   * Returns the events between the last announced head and `target`: a block and a head event for each block, and a
   * reorg event if needed. Undefined if the gap is too long.
   */
  async events(target: string): Promise<ChainEvent[] | undefined> {
    const last = this.#announced.head;
    const path = last && (await this.#pathTo(target));
    if (!path) return undefined;
    const { ancestor, branch } = path;
    if (target === last.root) return [];
    if (branch.length === 0) return this.rewindTo(target);
    const isReorg = ancestor.root !== last.root;
    // A node does not switch to a block older than its head.
    const newer = branch.findIndex(({ slot }) => slot > last.slot);
    const newHeadIndex = newer === -1 ? branch.length - 1 : newer;
    const firstHead = isReorg ? newHeadIndex : 0;
    const events: ChainEvent[] = [];
    let parent = await this.#withDependentRoots(ancestor, branch.slice(firstHead));
    for (const [index, header] of branch.entries()) {
      const head = { ...header, dependentRoots: this.#dependentRootsAfter(parent, header.slot) };
      events.push(this.#blockEvent(header));
      if (isReorg && index === firstHead) events.push(this.#reorgEvent(last, ancestor.slot, header));
      if (index >= firstHead) events.push(this.#headEvent(parent, head));
      parent = head;
    }
    return events;
  }

  /** Returns the unannounced block events between the latest announced head before a block and the block itself. */
  async blocksTo(target: string): Promise<ChainEvent[]> {
    const branch = [await this.#header(target)];
    while (branch.length <= MAX_BLOCKS && branch[0]!.slot > 0 && !this.#announced.findHead(branch[0]!.parentRoot)) {
      branch.unshift(await this.#header(branch[0]!.parentRoot));
    }
    return branch.filter(({ root }) => !this.#announced.hasBlock(root)).map((header) => this.#blockEvent(header));
  }

  /** Returns the events of a rewind to a block. */
  async rewindTo(target: string): Promise<ChainEvent[]> {
    const last = this.#announced.head!;
    const header = await this.#header(target);
    const dependentRoots =
      this.#announced.findHead(target)?.dependentRoots ?? (await this.#dependentRootsAt(header.slot));
    return [this.#reorgEvent(last, header.slot, header), this.#headEvent(last, { ...header, dependentRoots })];
  }

  /** Returns the finalized checkpoint of the upstream if it is newer than the announced one. */
  async finality(): Promise<ChainEvent[]> {
    const { finalized } = this.#announced;
    if (!finalized) return [];
    const answer = await this.#read("/eth/v1/beacon/states/head/finality_checkpoints");
    const epoch = numberAt(answer, "data", "finalized", "epoch");
    const root = stringAt(answer, "data", "finalized", "root");
    if (epoch === undefined || root === undefined || epoch <= finalized.epoch) return [];
    const ownEvent = this.#upstreamEvents.findLast(
      (event) => event.topic === "finalized_checkpoint" && finalizedOf(event)?.epoch === epoch,
    );
    if (ownEvent) return [ownEvent];
    const { slot, stateRoot, isOptimistic } = await this.#header(root);
    const epochStart = epoch * this.#slotsPerEpoch;
    return [
      createEvent("finalized_checkpoint", {
        block: root,
        state: slot === epochStart ? stateRoot : ((await this.#stateRootAt(epochStart)) ?? stateRoot),
        epoch: String(epoch),
        execution_optimistic: isOptimistic,
      }),
    ];
  }

  /** At an empty slot, the state differs from that of the last block. Some upstreams no longer have it. */
  async #stateRootAt(slot: number): Promise<string | undefined> {
    return stringAt(await this.#read(`/eth/v1/beacon/states/${slot}/root`), "data", "root");
  }

  /** Returns the branch from an announced head to the target, without that head. */
  async #pathTo(target: string): Promise<{ ancestor: Head; branch: Header[] } | undefined> {
    const branch: Header[] = [];
    for (let root = target; branch.length <= MAX_BLOCKS; root = branch[0]!.parentRoot) {
      const ancestor = this.#announced.findHead(root);
      if (ancestor) return { ancestor, branch };
      if (branch[0]?.slot === 0) return undefined;
      branch.unshift(await this.#header(root));
    }
    return undefined;
  }

  async #header(blockId: string): Promise<Header> {
    const header = readHeader(await this.#read(`/eth/v1/beacon/headers/${blockId}`));
    if (!header || (requestedRoot(blockId) ?? header.root) !== header.root)
      throw new OperationalError(`It returned no header for block ${blockId}.`);
    return header;
  }

  async #read(path: string): Promise<unknown> {
    const answer = await this.#fetch(path);
    return answer && JSON.parse(answer.toString());
  }

  /** The dependent roots are requested only if head events have to be reconstructed. */
  async #withDependentRoots(ancestor: Head, heads: readonly Header[]): Promise<KnownHead> {
    const { dependentRoots } = ancestor;
    if (dependentRoots) return { ...ancestor, dependentRoots };
    if (heads.every(({ root }) => this.#ownHeadEvent(root))) return { ...ancestor, dependentRoots: NO_ROOTS };
    return { ...ancestor, dependentRoots: await this.#dependentRootsAt(ancestor.slot) };
  }

  #ownHeadEvent(root: string): ChainEvent | undefined {
    return this.#upstreamEvents.find((event) => event.topic === "head" && headOf(event)?.root === root);
  }

  #blockEvent(header: Header): ChainEvent {
    const { slot, root, isOptimistic } = header;
    const isOwn = ({ topic, value }: ChainEvent) => topic === "block" && stringAt(value, "block") === root;
    return (
      this.#upstreamEvents.find(isOwn) ??
      createEvent("block", { slot: String(slot), block: root, execution_optimistic: isOptimistic })
    );
  }

  /** Returns the dependent roots of the block that follows a head. */
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

  /** Genesis depends on itself. */
  async #lastRootBefore(slot: number): Promise<string> {
    for (let before = slot - 1; before > 0 && before >= slot - MAX_EMPTY_SLOTS; before--) {
      const root = stringAt(await this.#read(`/eth/v1/beacon/blocks/${before}/root`), "data", "root");
      if (root !== undefined) return root;
    }
    return (await this.#header("genesis")).root;
  }

  #headEvent(parent: Head, head: Header & KnownHead): ChainEvent {
    return (
      this.#ownHeadEvent(head.root) ??
      createEvent("head", {
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
    const isOwn = ({ topic, value }: ChainEvent) =>
      topic === "chain_reorg" &&
      stringAt(value, "old_head_block") === old.root &&
      stringAt(value, "new_head_block") === head.root;
    const ownEvent = this.#upstreamEvents.findLast(isOwn);
    if (ownEvent) return ownEvent;
    return createEvent("chain_reorg", {
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

/** For heads whose events are not reconstructed. */
const NO_ROOTS: DependentRoots = { previous: "", current: "" };

/** Parses a response of `/eth/v1/beacon/headers/{block_id}`. Undefined if its root is not that of the header. */
export function readHeader(answer: unknown): Header | undefined {
  const root = stringAt(answer, "data", "root");
  const slot = numberAt(answer, "data", "header", "message", "slot");
  const parentRoot = stringAt(answer, "data", "header", "message", "parent_root");
  const stateRoot = stringAt(answer, "data", "header", "message", "state_root");
  if (root === undefined || slot === undefined || parentRoot === undefined || stateRoot === undefined) return undefined;
  if (rootOfHeader(answer) !== root) return undefined;
  return { root, slot, parentRoot, stateRoot, isOptimistic: stringAt(answer, "execution_optimistic") === "true" };
}

function rootOfHeader(answer: unknown): string | undefined {
  try {
    return headerRoot(memberOf(memberOf(memberOf(answer, "data"), "header"), "message"));
  } catch {
    return undefined;
  }
}
