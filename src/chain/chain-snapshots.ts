import { GENESIS_SLOT } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { SerialQueue } from "../async/serial-queue.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { DepositChain } from "../execution/eth1/deposit-chain.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import type { DataPool } from "./data/data-pool.ts";
import type { FinalityArchiver } from "./finality-archiver.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { PayloadVerification } from "./fork-choice/payloads/payload-verification.ts";
import type { ConfirmationTracker } from "./head/confirmation-tracker.ts";
import type { HeadTracker } from "./head/head-tracker.ts";
import type { DataHistory } from "./history/data-history.ts";
import type { ImportQueue } from "./import/import-queue.ts";
import type { LightClientServer } from "./light-client/light-client-server.ts";
import type { PayloadQueue } from "./payloads/payload-queue.ts";
import type { PayloadStore } from "./payloads/payload-store.ts";
import type { Pools } from "./pools/pools.ts";
import type { PayloadPreparer } from "./production/payload-preparer.ts";
import type { Pubkeys } from "./pubkeys/pubkeys.ts";
import type { SnapshotStore } from "./states/snapshot-store.ts";
import type { SnapshotWriter } from "./states/snapshot-writer.ts";
import type { StateStore } from "./states/state-store.ts";
import type { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import type { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";

/** All mutable components of a chain except its clock. */
interface ChangingParts {
  db: BeaconDb;
  changes: SerialQueue;
  forkChoice: ForkChoice;
  payloads: PayloadVerification;
  payloadStore: PayloadStore;
  payloadQueue: PayloadQueue;
  blocks: BlockStore;
  states: StateStore;
  snapshots: SnapshotStore;
  snapshotWriter: SnapshotWriter;
  pubkeys: Pubkeys;
  pools: Pools;
  dataPool: DataPool;
  dataHistory: DataHistory;
  importQueue: ImportQueue;
  deposits: DepositChain;
  tracker: HeadTracker;
  confirmation: ConfirmationTracker;
  archiver: FinalityArchiver;
  lightClient: LightClientServer;
  subscriptions: CommitteeSubscriptions;
  syncSubscriptions: SyncSubscriptions;
  payloadPreparer: PayloadPreparer;
}

/**
 * Snapshot of a chain: its in-memory state and the database layer for all later writes. Can be used for only one
 * revert.
 */
export interface ChainSnapshot {
  layer: number;
  memory: Memory;
}

type Memory = ReturnType<ChainSnapshots["capture"]>;

/**
 * Takes snapshots of a chain and reverts to them, even across finality. Snapshots are lost when the process ends.
 * Finishes a pending state write first, so that no state spans two layers.
 */
export class ChainSnapshots {
  readonly #parts: ChangingParts;

  constructor(parts: ChangingParts) {
    this.#parts = parts;
  }

  /** Takes a snapshot of memory and database. */
  take(): Promise<ChainSnapshot> {
    const { db, changes, snapshotWriter } = this.#parts;
    return changes.run(async () => {
      await snapshotWriter.finish();
      return { layer: await db.addLayer(), memory: this.capture() };
    });
  }

  /**
   * Reverts to a snapshot, atomically in the database, and invalidates later snapshots. `others` reverts the remaining
   * components, such as the clock, before events are published.
   */
  revertTo({ layer, memory }: ChainSnapshot, others: () => void): Promise<void> {
    return this.#goTo(memory, () => this.#parts.db.dropLayer(layer), others);
  }

  /**
   * Replaces this chain with another one that has the same configuration and genesis. The other chain must not be used
   * afterwards. The database is replaced atomically. Earlier snapshots stay valid.
   */
  async replaceBy(other: ChainSnapshots, others: () => void): Promise<void> {
    const { db, changes, snapshotWriter } = other.#parts;
    await changes.run(() => snapshotWriter.finish());
    await this.#goTo(other.capture(), () => this.#parts.db.replaceChainWith(db), others);
  }

  #goTo(memory: Memory, commit: () => Promise<void>, others: () => void): Promise<void> {
    return this.#parts.changes.run(async () => {
      const recentForkSlot = await this.#recentForkSlot(memory);
      const leftChain = recentForkSlot === undefined ? await this.#canonicalRoots() : undefined;
      await this.#parts.snapshotWriter.finish();
      await commit();
      const forkSlot = recentForkSlot ?? (await this.#newestFinalOf(leftChain!));
      others();
      this.#restore(memory, forkSlot);
    });
  }

  /**
   * Copies the in-memory state. The cost grows with the number of validators and unfinalized blocks, not with the
   * length of the chain.
   */
  capture() {
    const parts = this.#parts;
    const { head, justified, finalized } = parts.forkChoice;
    return {
      forkChoice: parts.forkChoice.capture(),
      unverifiedFrom: parts.payloads.capture(),
      payloadArrivals: parts.payloadQueue.capture(),
      states: parts.states.capture(new Set([head.root, justified.root, finalized.root])),
      snapshots: parts.snapshots.capture(),
      pubkeys: parts.pubkeys.capture(),
      pools: parts.pools.capture(),
      dataPool: parts.dataPool.capture(),
      heldData: parts.dataHistory.capture(),
      deposits: parts.deposits.capture(),
      head: parts.tracker.capture(),
      confirmation: parts.confirmation.capture(),
      archived: parts.archiver.capture(),
      lightClient: parts.lightClient.capture(),
      subscriptions: parts.subscriptions.capture(),
      syncSubscriptions: parts.syncSubscriptions.capture(),
    };
  }

  /**
   * Returns the newest slot that both chains share, or undefined if they diverge before the snapshot's finalized block.
   */
  async #recentForkSlot({ forkChoice: { nodes, head } }: Memory): Promise<Slot | undefined> {
    const byRoot = new Map(nodes.map(({ block }) => [block.root, block]));
    for (let block = byRoot.get(head.root); block; block = byRoot.get(block.parentRoot)) {
      if (await this.#parts.blocks.isCanonical(block.root, block.slot)) return block.slot;
    }
    return undefined;
  }

  async #canonicalRoots(): Promise<Set<RootHex>> {
    const { db, forkChoice } = this.#parts;
    const roots = new Set<RootHex>();
    for await (const { root } of db.finalizedBlocks.range({})) roots.add(root);
    for (let block = forkChoice.get(forkChoice.head.root); block; block = forkChoice.get(block.parentRoot)) {
      roots.add(block.root);
    }
    return roots;
  }

  /** Returns the slot of the newest block in `roots` that is finalized in the database. */
  async #newestFinalOf(roots: ReadonlySet<RootHex>): Promise<Slot> {
    for await (const { slot, root } of this.#parts.db.finalizedBlocks.range({ reverse: true })) {
      if (roots.has(root)) return slot;
    }
    return GENESIS_SLOT;
  }

  /** Restores the in-memory state after the database has been reverted, and publishes the head. */
  #restore(memory: Memory, forkSlot: Slot): void {
    const parts = this.#parts;
    parts.blocks.clear();
    parts.payloadStore.clear();
    parts.payloadQueue.restore(memory.payloadArrivals);
    parts.forkChoice.restore(memory.forkChoice);
    parts.payloads.restore(memory.unverifiedFrom);
    parts.states.restore(memory.states);
    parts.snapshots.restore(memory.snapshots);
    parts.pubkeys.restore(memory.pubkeys);
    parts.pools.restore(memory.pools);
    parts.importQueue.dropAwaiting();
    parts.dataPool.restore(memory.dataPool);
    parts.dataHistory.restore(memory.heldData);
    parts.deposits.restore(memory.deposits);
    parts.archiver.restore(memory.archived);
    parts.lightClient.restore(memory.lightClient);
    parts.subscriptions.restore(memory.subscriptions);
    parts.syncSubscriptions.restore(memory.syncSubscriptions);
    parts.payloadPreparer.forget();
    parts.confirmation.restore(memory.confirmation);
    parts.tracker.restore(memory.head, forkSlot);
  }
}
