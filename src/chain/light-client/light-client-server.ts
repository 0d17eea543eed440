import type { BeaconConfig } from "@lodestar/config";
import {
  GENESIS_SLOT,
  MAX_REQUEST_LIGHT_CLIENT_UPDATES,
  MIN_SYNC_COMMITTEE_PARTICIPANTS,
  SLOTS_PER_EPOCH,
  ZERO_HASH,
  ZERO_HASH_HEX,
} from "@lodestar/params";
import { computeEpochAtSlot, computeSyncPeriodAtSlot } from "@lodestar/state-transition";
import type {
  altair,
  LightClientBootstrap,
  LightClientFinalityUpdate,
  LightClientHeader,
  LightClientOptimisticUpdate,
  LightClientUpdate,
  RootHex,
  SignedBeaconBlock,
  Slot,
  SyncPeriod,
} from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import { LruMap } from "../lru-map.ts";
import { type StateStore, StateUnavailableError } from "../states/state-store.ts";
import { BestUpdates, type Candidate, type DerivedUpdate } from "./best-updates.ts";
import { blockToLightClientHeader, createBootstrap, createFinalityUpdate, participants } from "./light-client-data.ts";

interface LightClientParts {
  config: BeaconConfig;
  db: BeaconDb;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  events: ChainEvents;
  logger: Logger;
}

/** How many blocks behind a new head are looked at, as many as a chain has that finalizes, and of how many states are made; on most heads it is none. */
const MAX_BLOCKS_AT_ONCE = 5 * SLOTS_PER_EPOCH;
const MAX_STATES_AT_ONCE = 32;
const REMEMBERED_BLOCKS = 256;
/** Each attested header is used once, the finalized one for an epoch. */
const KEPT_HEADERS = 4;

interface Latest {
  update: LightClientFinalityUpdate;
  /** The block that holds the signatures. */
  block: ForkChoiceBlock;
}

export interface LightClientMoment {
  best: Candidate[];
  taken: RootHex[];
  followed: RootHex | undefined;
  optimistic: Latest | undefined;
  finality: Latest | undefined;
}

/**
 * What light clients ask for, derived from the canonical chain as it grows (altair/light-client/full-node.md). A block's
 * sync aggregate signs its parent, so that every head gives an update on the block before it.
 */
export class LightClientServer {
  readonly #parts: LightClientParts;
  readonly #best: BestUpdates;
  readonly #taken = new LruMap<RootHex, true>(REMEMBERED_BLOCKS);
  readonly #headers = new LruMap<RootHex, LightClientHeader>(KEPT_HEADERS);
  #followed: RootHex | undefined;
  #optimistic: Latest | undefined;
  #finality: Latest | undefined;

  constructor(parts: LightClientParts) {
    this.#parts = parts;
    this.#best = new BestUpdates({ ...parts, derive: (root) => this.#derive(root).catch(ifStateIsHeld) });
  }

  capture(): LightClientMoment {
    return {
      best: this.#best.capture(),
      taken: Array.from(this.#taken.entries(), ([root]) => root),
      followed: this.#followed,
      optimistic: this.#optimistic,
      finality: this.#finality,
    };
  }

  restore({ best, taken, followed, optimistic, finality }: LightClientMoment): void {
    this.#best.restore(best);
    this.#taken.clear();
    for (const root of taken) this.#taken.set(root, true);
    this.#headers.clear();
    this.#followed = followed;
    this.#optimistic = optimistic;
    this.#finality = finality;
  }

  /** Derives what the head and the blocks since the last one give. Calls must not overlap; the chain queues them. */
  async follow(head: ForkChoiceBlock): Promise<void> {
    if (head.root !== this.#followed) {
      this.#followed = head.root;
      const untaken = this.#untakenUpTo(head);
      for (const [index, block] of untaken.entries()) {
        this.#taken.set(block.root, true);
        const hasState = untaken.length - index <= MAX_STATES_AT_ONCE;
        await this.#attempt(block.root, () => (hasState ? this.#take(block) : this.#note(block)));
      }
    }
    await this.#attempt(head.root, () => this.#best.settle());
  }

  /** Null when the block or its state is not held. */
  async bootstrap(root: RootHex): Promise<LightClientBootstrap | null> {
    const { blocks, states } = this.#parts;
    const signed = await blocks.signedByRoot(root);
    if (!signed) return null;
    const state = await states.afterBlock(root);
    // The state from which a chain was started may have been advanced past its block.
    if (state.slot !== signed.message.slot) return null;
    const header = await this.#header(root);
    return header ? createBootstrap(header, state) : null;
  }

  /** The best update of each period from the first one on that has any, without gaps. */
  updates(startPeriod: SyncPeriod, count: number): Promise<LightClientUpdate[]> {
    return this.#best.range(startPeriod, startPeriod + count, MAX_REQUEST_LIGHT_CLIENT_UPDATES);
  }

  /** Null before anything is finalized. */
  async finalityUpdate(): Promise<LightClientFinalityUpdate | null> {
    return (await this.#canonical(this.#finality)) ?? null;
  }

  async optimisticUpdate(): Promise<LightClientOptimisticUpdate | null> {
    const update = await this.#canonical(this.#optimistic);
    return update ? toOptimisticUpdate(update) : null;
  }

  /** From the oldest to the head, which is always among them: it may have been left and become the head again. */
  #untakenUpTo(head: ForkChoiceBlock): ForkChoiceBlock[] {
    const { forkChoice } = this.#parts;
    const path = [head];
    let block = forkChoice.get(head.parentRoot);
    while (block && path.length < MAX_BLOCKS_AT_ONCE && !this.#taken.get(block.root)) {
      path.push(block);
      block = forkChoice.get(block.parentRoot);
    }
    return path.reverse();
  }

  async #attempt(root: RootHex, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // Where the chain's history begins the state to prove from may be missing.
      if (error instanceof StateUnavailableError) return;
      this.#parts.logger.error("Light client data could not be derived", { root, error });
    }
  }

  async #take(block: ForkChoiceBlock): Promise<void> {
    const derived = await this.#derive(block.root);
    if (!derived) return;
    const { update } = derived;
    await this.#takeOptimistic({ update, block });
    if (update.finalizedHeader.beacon.slot > GENESIS_SLOT) await this.#takeFinality({ update, block });
    await this.#best.offer(block, derived);
  }

  /** What decides over the best update needs no state. */
  async #note(block: ForkChoiceBlock): Promise<void> {
    const { blocks, forkChoice } = this.#parts;
    const attested = forkChoice.get(block.parentRoot);
    const signed = await blocks.signedByRoot(block.root);
    const syncAggregate = signed && attested && this.#usefulAggregate(signed, attested);
    if (!syncAggregate) return;
    const { root } = attested.finalized;
    const finalizedSlot = root === ZERO_HASH_HEX ? GENESIS_SLOT : (await blocks.link(root))?.slot;
    await this.#best.note(block, {
      activeParticipants: participants(syncAggregate),
      attestedHeaderSlot: attested.slot,
      signatureSlot: block.slot,
      finalizedHeaderSlot: finalizedSlot ?? GENESIS_SLOT,
      isSyncCommitteeUpdate: computeSyncPeriodAtSlot(attested.slot) === computeSyncPeriodAtSlot(block.slot),
      isFinalityUpdate: root === ZERO_HASH_HEX || (finalizedSlot !== undefined && finalizedSlot > GENESIS_SLOT),
    });
  }

  /** Undefined where the block signs nothing that light clients can use. */
  #usefulAggregate(signed: SignedBeaconBlock, attested: { slot: Slot }): altair.SyncAggregate | undefined {
    if (!hasLightClientForm(this.#parts.config, attested.slot)) return undefined;
    const { syncAggregate } = signed.message.body as altair.BeaconBlockBody;
    return participants(syncAggregate) < MIN_SYNC_COMMITTEE_PARTICIPANTS ? undefined : syncAggregate;
  }

  /** @throws a `StateUnavailableError` */
  async #derive(root: RootHex): Promise<DerivedUpdate | undefined> {
    const { config, blocks, states } = this.#parts;
    const signed = await blocks.signedByRoot(root);
    const attestedRoot = signed && toRootHex(signed.message.parentRoot);
    const attested = attestedRoot && (await blocks.signedByRoot(attestedRoot));
    const syncAggregate = attested && this.#usefulAggregate(signed, attested.message);
    if (!syncAggregate) return undefined;
    const attestedState = await states.afterBlock(attestedRoot);
    const attestedHeader = await this.#header(attestedRoot);
    if (!attestedHeader || attestedState.slot !== attested.message.slot) return undefined;
    const finalizedRoot = attestedState.finalizedCheckpoint.root;
    const finalizedHeader = byteArrayEquals(finalizedRoot, ZERO_HASH)
      ? null
      : await this.#finalizedHeader(toRootHex(finalizedRoot));
    const update = createFinalityUpdate(config, {
      syncAggregate,
      signatureSlot: signed.message.slot,
      attestedHeader,
      attestedState,
      finalizedHeader,
    });
    return { update, attestedState };
  }

  async #takeOptimistic(latest: Latest): Promise<void> {
    if (!(await this.#isNews(latest, this.#optimistic))) return;
    this.#optimistic = latest;
    this.#parts.events.publish("lightClientOptimisticUpdate", toOptimisticUpdate(latest.update));
  }

  async #takeFinality(latest: Latest): Promise<void> {
    if (!(await this.#isNews(latest, this.#finality))) return;
    this.#finality = latest;
    this.#parts.events.publish("lightClientFinalityUpdate", latest.update);
  }

  async #isNews({ update }: Latest, before: Latest | undefined): Promise<boolean> {
    const known = await this.#canonical(before);
    return known === undefined || attestedSlot(known) < attestedSlot(update);
  }

  /** Updates whose block was abandoned are not given out. */
  async #canonical(latest: Latest | undefined): Promise<LightClientFinalityUpdate | undefined> {
    if (!latest) return undefined;
    const { root, slot } = latest.block;
    return (await this.#parts.blocks.isCanonical(root, slot)) ? latest.update : undefined;
  }

  /** No proof can be given for a checkpoint that names genesis by its root: clients take genesis for the zero root. */
  async #finalizedHeader(root: RootHex): Promise<LightClientHeader | undefined> {
    const header = await this.#header(root);
    return header?.beacon.slot === GENESIS_SLOT ? undefined : header;
  }

  async #header(root: RootHex): Promise<LightClientHeader | undefined> {
    const { config, blocks } = this.#parts;
    const kept = this.#headers.get(root);
    if (kept) return kept;
    const signed = await blocks.signedByRoot(root);
    if (!signed) return undefined;
    const header = blockToLightClientHeader(config, signed.message);
    this.#headers.set(root, header);
    return header;
  }
}

function ifStateIsHeld(error: unknown): undefined {
  if (!(error instanceof StateUnavailableError)) throw error;
}

/** From altair on; gloas gives headers another form, which this chain does not produce. */
function hasLightClientForm({ ALTAIR_FORK_EPOCH, GLOAS_FORK_EPOCH }: BeaconConfig, slot: number): boolean {
  const epoch = computeEpochAtSlot(slot);
  return epoch >= ALTAIR_FORK_EPOCH && epoch < GLOAS_FORK_EPOCH;
}

function toOptimisticUpdate(update: LightClientFinalityUpdate): LightClientOptimisticUpdate {
  const { attestedHeader, syncAggregate, signatureSlot } = update;
  return { attestedHeader, syncAggregate, signatureSlot } as LightClientOptimisticUpdate;
}

const attestedSlot = ({ attestedHeader }: LightClientFinalityUpdate) => attestedHeader.beacon.slot;
