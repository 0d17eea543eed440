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
import type { LightClientUpdateSummary } from "@lodestar/state-transition/light-client";
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
import { LruMap } from "../../collections/lru-map.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { Logger } from "../../log/logger.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
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

/**
 * Limits per head: the number of blocks to look back, enough to reach finality, and the number of states to regenerate.
 * Usually, only one block is processed.
 */
const MAX_BLOCKS_AT_ONCE = 5 * SLOTS_PER_EPOCH;
const MAX_STATES_AT_ONCE = 32;
const REMEMBERED_BLOCKS = 256;
/** Each attested header is used once, while the finalized header is used for a whole epoch. */
const KEPT_HEADERS = 4;

interface LatestUpdate {
  attestedSlot: Slot;
  /** If undefined, the update is derived when it is read. */
  update: LightClientFinalityUpdate | undefined;
  /** Block containing the sync aggregate. */
  block: ForkChoiceBlock;
}

export interface LightClientSnapshot {
  best: Candidate[];
  processed: RootHex[];
  followed: RootHex | undefined;
  optimistic: LatestUpdate | undefined;
  finality: LatestUpdate | undefined;
}

/**
 * Light client data, derived as the canonical chain grows (altair/light-client/full-node.md). A block's sync aggregate
 * signs its parent, so every head provides an update for its parent. Without listeners, an update is derived only when
 * it is read, or if it is the best of its period.
 */
export class LightClientServer {
  readonly #parts: LightClientParts;
  readonly #best: BestUpdates;
  readonly #processed = new LruMap<RootHex, true>(REMEMBERED_BLOCKS);
  readonly #headers = new LruMap<RootHex, LightClientHeader>(KEPT_HEADERS);
  #followed: RootHex | undefined;
  #optimistic: LatestUpdate | undefined;
  #finality: LatestUpdate | undefined;

  constructor(parts: LightClientParts) {
    this.#parts = parts;
    this.#best = new BestUpdates({ ...parts, derive: (root) => this.#derive(root).catch(ignoreMissingState) });
  }

  capture(): LightClientSnapshot {
    return {
      best: this.#best.capture(),
      processed: Array.from(this.#processed.entries(), ([root]) => root),
      followed: this.#followed,
      optimistic: this.#optimistic,
      finality: this.#finality,
    };
  }

  restore({ best, processed, followed, optimistic, finality }: LightClientSnapshot): void {
    this.#best.restore(best);
    this.#processed.clear();
    for (const root of processed) this.#processed.set(root, true);
    this.#headers.clear();
    this.#followed = followed;
    this.#optimistic = optimistic;
    this.#finality = finality;
  }

  /** Derives data from the head and new ancestors. Calls must not overlap; the chain queues them. */
  async follow(head: ForkChoiceBlock): Promise<void> {
    if (head.root !== this.#followed) {
      this.#followed = head.root;
      const unprocessed = this.#unprocessedUpTo(head);
      for (const [index, block] of unprocessed.entries()) {
        this.#processed.set(block.root, true);
        const hasState = unprocessed.length - index <= MAX_STATES_AT_ONCE;
        await this.#attempt(block.root, () => (hasState ? this.#process(block) : this.#processSummary(block)));
      }
    }
    await this.#attempt(head.root, () => this.#best.settle());
  }

  /** Returns null if the block or its state is unavailable. */
  async bootstrap(root: RootHex): Promise<LightClientBootstrap | null> {
    const { blocks, states } = this.#parts;
    const signed = await blocks.signedByRoot(root);
    if (!signed) return null;
    const state = await states.afterBlock(root);
    // An anchor state may be advanced past its block.
    if (state.slot !== signed.message.slot) return null;
    const header = await this.#header(root);
    return header ? createBootstrap(header, state) : null;
  }

  /** Returns the best updates up to the first gap, starting with the first period that has one. */
  updates(startPeriod: SyncPeriod, count: number): Promise<LightClientUpdate[]> {
    return this.#best.range(startPeriod, startPeriod + count, MAX_REQUEST_LIGHT_CLIENT_UPDATES);
  }

  /** Returns null before the first finalization. */
  async finalityUpdate(): Promise<LightClientFinalityUpdate | null> {
    return (await this.#read(this.#finality)) ?? null;
  }

  async optimisticUpdate(): Promise<LightClientOptimisticUpdate | null> {
    const update = await this.#read(this.#optimistic);
    return update ? toOptimisticUpdate(update) : null;
  }

  /**
   * Returns unprocessed ancestors and the head, oldest first. Always includes the head, because an already processed
   * block may have become the head again.
   */
  #unprocessedUpTo(head: ForkChoiceBlock): ForkChoiceBlock[] {
    const { forkChoice } = this.#parts;
    const path = [head];
    let block = forkChoice.get(head.parentRoot);
    while (block && path.length < MAX_BLOCKS_AT_ONCE && !this.#processed.get(block.root)) {
      path.push(block);
      block = forkChoice.get(block.parentRoot);
    }
    return path.reverse();
  }

  async #attempt(root: RootHex, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // At the start of the history, required states may be missing.
      if (error instanceof StateUnavailableError) return;
      this.#parts.logger.error("Failed to derive light client data", { root, error });
    }
  }

  async #process(block: ForkChoiceBlock): Promise<void> {
    const { events } = this.#parts;
    const isAwaited =
      events.hasListeners("lightClientOptimisticUpdate") || events.hasListeners("lightClientFinalityUpdate");
    await (isAwaited ? this.#processDerived(block) : this.#processLazily(block));
  }

  async #processDerived(block: ForkChoiceBlock): Promise<void> {
    const derived = await this.#derive(block.root);
    if (!derived) return;
    const { update } = derived;
    const latest = { block, attestedSlot: update.attestedHeader.beacon.slot, update };
    if (await this.#updateOptimistic(latest)) {
      this.#parts.events.publish("lightClientOptimisticUpdate", toOptimisticUpdate(update));
    }
    if (update.finalizedHeader.beacon.slot > GENESIS_SLOT && (await this.#updateFinality(latest))) {
      this.#parts.events.publish("lightClientFinalityUpdate", update);
    }
    await this.#best.offer(block, derived);
  }

  async #processLazily(block: ForkChoiceBlock): Promise<void> {
    const summary = await this.#summaryOf(block);
    if (!summary) return;
    const latest = { block, attestedSlot: summary.attestedHeaderSlot, update: undefined };
    await this.#updateOptimistic(latest);
    if (summary.finalizedHeaderSlot > GENESIS_SLOT) await this.#updateFinality(latest);
    if (!(await this.#best.isBetter(block, summary))) return;
    const derived = await this.#derive(block.root);
    if (derived) await this.#best.offer(block, derived);
  }

  async #processSummary(block: ForkChoiceBlock): Promise<void> {
    const summary = await this.#summaryOf(block);
    if (summary) await this.#best.offerSummary(block, summary);
  }

  /** Summarizes a block's update, which requires no state. Returns undefined if the block has none. */
  async #summaryOf(block: ForkChoiceBlock): Promise<LightClientUpdateSummary | undefined> {
    const { blocks, forkChoice } = this.#parts;
    const attested = forkChoice.get(block.parentRoot);
    const signed = await blocks.signedByRoot(block.root);
    const syncAggregate = signed && attested && this.#usefulAggregate(signed, attested);
    if (!syncAggregate) return undefined;
    const { root } = attested.finalized;
    const finalizedSlot =
      root === ZERO_HASH_HEX ? GENESIS_SLOT : (forkChoice.get(root)?.slot ?? (await blocks.link(root))?.slot);
    return {
      activeParticipants: participants(syncAggregate),
      attestedHeaderSlot: attested.slot,
      signatureSlot: block.slot,
      finalizedHeaderSlot: finalizedSlot ?? GENESIS_SLOT,
      isSyncCommitteeUpdate: computeSyncPeriodAtSlot(attested.slot) === computeSyncPeriodAtSlot(block.slot),
      isFinalityUpdate: root === ZERO_HASH_HEX || (finalizedSlot !== undefined && finalizedSlot > GENESIS_SLOT),
    };
  }

  /** Returns undefined if light clients cannot use the aggregate. */
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

  /** Returns false if the update is not newer. */
  async #updateOptimistic(latest: LatestUpdate): Promise<boolean> {
    if (!(await this.#isNewer(latest, this.#optimistic))) return false;
    this.#optimistic = latest;
    return true;
  }

  /** Returns false if the update is not newer. */
  async #updateFinality(latest: LatestUpdate): Promise<boolean> {
    if (!(await this.#isNewer(latest, this.#finality))) return false;
    this.#finality = latest;
    return true;
  }

  async #isNewer({ attestedSlot }: LatestUpdate, previous: LatestUpdate | undefined): Promise<boolean> {
    return !previous || previous.attestedSlot < attestedSlot || !(await this.#isCanonical(previous));
  }

  #isCanonical({ block: { root, slot } }: LatestUpdate): Promise<boolean> {
    return this.#parts.blocks.isCanonical(root, slot);
  }

  /** Returns undefined if the block is no longer canonical. */
  async #read(latest: LatestUpdate | undefined): Promise<LightClientFinalityUpdate | undefined> {
    if (!latest || !(await this.#isCanonical(latest))) return undefined;
    latest.update ??= (await this.#derive(latest.block.root))?.update;
    return latest.update;
  }

  /** Light clients represent genesis as the zero root, so a checkpoint with the genesis block root cannot be proven. */
  async #finalizedHeader(root: RootHex): Promise<LightClientHeader | undefined> {
    const header = await this.#header(root);
    return header?.beacon.slot === GENESIS_SLOT ? undefined : header;
  }

  async #header(root: RootHex): Promise<LightClientHeader | undefined> {
    const { config, blocks } = this.#parts;
    const cached = this.#headers.get(root);
    if (cached) return cached;
    const signed = await blocks.signedByRoot(root);
    if (!signed) return undefined;
    const header = blockToLightClientHeader(config, signed.message);
    this.#headers.set(root, header);
    return header;
  }
}

function ignoreMissingState(error: unknown): undefined {
  if (!(error instanceof StateUnavailableError)) throw error;
}

/** True from Altair on. */
function hasLightClientForm({ ALTAIR_FORK_EPOCH }: BeaconConfig, slot: number): boolean {
  return computeEpochAtSlot(slot) >= ALTAIR_FORK_EPOCH;
}

function toOptimisticUpdate(update: LightClientFinalityUpdate): LightClientOptimisticUpdate {
  const { attestedHeader, syncAggregate, signatureSlot } = update;
  return { attestedHeader, syncAggregate, signatureSlot } as LightClientOptimisticUpdate;
}
