import { GENESIS_SLOT } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { DepositChain } from "../execution/eth1/deposit-chain.ts";
import type { BlockStore } from "./blocks/block-store.ts";
import type { DataPool } from "./data/data-pool.ts";
import type { FinalityArchiver } from "./finality-archiver.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { HeadTracker } from "./head-tracker.ts";
import type { DataHistory } from "./history/data-history.ts";
import type { ImportQueue } from "./import/import-queue.ts";
import type { LightClientServer } from "./light-client/light-client-server.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import type { Pools } from "./pools/pools.ts";
import type { PayloadAnnouncer } from "./production/payload-announcer.ts";
import type { Pubkeys } from "./pubkeys.ts";
import type { SerialQueue } from "./serial-queue.ts";
import type { SnapshotStore } from "./states/snapshot-store.ts";
import type { SnapshotWriter } from "./states/snapshot-writer.ts";
import type { StateStore } from "./states/state-store.ts";
import type { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import type { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";

/** Whatever of a chain changes as it goes on, but for its clock. */
interface ChangingParts {
  db: BeaconDb;
  changes: SerialQueue;
  forkChoice: ForkChoice;
  payloads: PayloadVerification;
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
  archiver: FinalityArchiver;
  lightClient: LightClientServer;
  subscriptions: CommitteeSubscriptions;
  syncSubscriptions: SyncSubscriptions;
  payloadAnnouncer: PayloadAnnouncer;
}

/** A moment of a chain, and the layer of its database in which all stands that was written since. It can be gone back to once. */
export interface Moment {
  layer: number;
  memory: Memory;
}

type Memory = ReturnType<Moments["capture"]>;

/**
 * Moments of a chain, to which it can be made to go back, also to before what is final. They live as long as the process. A state
 * that is being stored is finished before, so that it does not lie partly in one layer and partly in another.
 */
export class Moments {
  readonly #parts: ChangingParts;

  constructor(parts: ChangingParts) {
    this.#parts = parts;
  }

  /** Notes how the chain stands, in memory and in the database. */
  take(): Promise<Moment> {
    const { db, changes, snapshotWriter } = this.#parts;
    return changes.run(async () => {
      await snapshotWriter.finish();
      return { layer: await db.addLayer(), memory: this.capture() };
    });
  }

  /**
   * Goes back to a moment, whatever became final since: in the database by one write, of which a crash leaves all or nothing.
   * Moments that were taken later are gone with it. `others` are called to go back, too, before anybody hears of it: the clock,
   * and whoever acts on the chain.
   */
  goBackTo({ layer, memory }: Moment, others: () => void): Promise<void> {
    return this.#goTo(memory, () => this.#parts.db.dropLayer(layer), others);
  }

  /**
   * Goes to where another chain of the same configuration and genesis stands, which is not used any more: with all that its
   * database holds of it, of which a crash leaves all or nothing. Moments of before can still be gone back to.
   */
  async takeOver(other: Moments, others: () => void): Promise<void> {
    const { db, changes, snapshotWriter } = other.#parts;
    await changes.run(() => snapshotWriter.finish());
    await this.#goTo(other.capture(), () => this.#parts.db.takeChainOf(db), others);
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

  /** What is copied grows with the validators and the blocks that are not final, not with the chain. */
  capture() {
    const parts = this.#parts;
    const { head, justified, finalized } = parts.forkChoice;
    return {
      forkChoice: parts.forkChoice.capture(),
      unverifiedFrom: parts.payloads.capture(),
      states: parts.states.capture(new Set([head.root, justified.root, finalized.root])),
      snapshots: parts.snapshots.capture(),
      pubkeys: parts.pubkeys.capture(),
      pools: parts.pools.capture(),
      dataPool: parts.dataPool.capture(),
      heldData: parts.dataHistory.capture(),
      deposits: parts.deposits.capture(),
      head: parts.tracker.capture(),
      archived: parts.archiver.capture(),
      lightClient: parts.lightClient.capture(),
      subscriptions: parts.subscriptions.capture(),
      syncSubscriptions: parts.syncSubscriptions.capture(),
    };
  }

  /** Up to this slot the chain of then is that of now; undefined where they part before what was final then. */
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

  /** The slot of the newest final block in the database that is among others. */
  async #newestFinalOf(roots: ReadonlySet<RootHex>): Promise<Slot> {
    for await (const { slot, root } of this.#parts.db.finalizedBlocks.range({ reverse: true })) {
      if (roots.has(root)) return slot;
    }
    return GENESIS_SLOT;
  }

  /** The database is there already. Tells of the head of then. */
  #restore(memory: Memory, forkSlot: Slot): void {
    const parts = this.#parts;
    parts.blocks.clear();
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
    parts.payloadAnnouncer.forget();
    parts.tracker.restore(memory.head, forkSlot);
  }
}
