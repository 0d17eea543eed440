import type { BeaconConfig } from "@lodestar/config";
import {
  GENESIS_SLOT,
  MAX_REQUEST_LIGHT_CLIENT_UPDATES,
  MIN_SYNC_COMMITTEE_PARTICIPANTS,
  SYNC_COMMITTEE_SIZE,
  ZERO_HASH,
} from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type {
  altair,
  LightClientBootstrap,
  LightClientFinalityUpdate,
  LightClientHeader,
  LightClientOptimisticUpdate,
  LightClientUpdate,
  RootHex,
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
import { type Best, BestUpdates } from "./best-updates.ts";
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

/** How many blocks behind a new head are looked at; on most heads it is none. */
const MAX_BLOCKS_AT_ONCE = 32;
const REMEMBERED_BLOCKS = 256;
/** Each attested header is used once, the finalized one for an epoch. */
const KEPT_HEADERS = 4;

interface Latest {
  update: LightClientFinalityUpdate;
  /** The block that holds the signatures. */
  block: ForkChoiceBlock;
}

export interface LightClientMoment {
  best: Best | undefined;
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
    this.#best = new BestUpdates(parts);
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
    if (head.root === this.#followed) return;
    this.#followed = head.root;
    for (const block of this.#untakenUpTo(head)) {
      this.#taken.set(block.root, true);
      try {
        await this.#take(block);
      } catch (error) {
        // Where the chain's history begins the state to prove from may be missing.
        if (error instanceof StateUnavailableError) continue;
        this.#parts.logger.error("Light client data could not be derived", { root: block.root, error });
      }
    }
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

  async #take(block: ForkChoiceBlock): Promise<void> {
    const { config, blocks, states } = this.#parts;
    const signed = await blocks.signedByRoot(block.root);
    const attested = await blocks.signedByRoot(block.parentRoot);
    if (!signed || !attested || !hasLightClientForm(config, attested.message.slot)) return;
    const { syncAggregate } = signed.message.body as altair.BeaconBlockBody;
    if (participants(syncAggregate) < MIN_SYNC_COMMITTEE_PARTICIPANTS) return;
    const attestedState = await states.afterBlock(block.parentRoot);
    const attestedHeader = await this.#header(block.parentRoot);
    if (!attestedHeader || attestedState.slot !== attested.message.slot) return;
    const finalizedRoot = attestedState.finalizedCheckpoint.root;
    const finalizedHeader = byteArrayEquals(finalizedRoot, ZERO_HASH)
      ? null
      : await this.#finalizedHeader(toRootHex(finalizedRoot));
    const update = createFinalityUpdate(config, {
      syncAggregate,
      signatureSlot: block.slot,
      attestedHeader,
      attestedState,
      finalizedHeader,
    });
    await this.#takeOptimistic({ update, block });
    if (finalizedHeader) await this.#takeFinality({ update, block });
    await this.#best.offer(update, block.root, attestedState);
  }

  async #takeOptimistic(latest: Latest): Promise<void> {
    const known = await this.#canonical(this.#optimistic);
    if (known && attestedSlot(known) > attestedSlot(latest.update)) return;
    this.#optimistic = latest;
    if (known && attestedSlot(known) === attestedSlot(latest.update)) return;
    this.#parts.events.publish("lightClientOptimisticUpdate", toOptimisticUpdate(latest.update));
  }

  async #takeFinality(latest: Latest): Promise<void> {
    const known = await this.#canonical(this.#finality);
    if (known && attestedSlot(known) > attestedSlot(latest.update)) return;
    this.#finality = latest;
    const isNews =
      known?.finalizedHeader.beacon.slot !== latest.update.finalizedHeader.beacon.slot ||
      (!hasSupermajority(known) && hasSupermajority(latest.update));
    if (isNews) this.#parts.events.publish("lightClientFinalityUpdate", latest.update);
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

const hasSupermajority = ({ syncAggregate }: LightClientFinalityUpdate) =>
  participants(syncAggregate) * 3 > SYNC_COMMITTEE_SIZE * 2;
