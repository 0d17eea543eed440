import { GENESIS_SLOT } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { BlockStore } from "./blocks/block-store.ts";
import type { FinalityArchiver } from "./finality-archiver.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { HeadTracker } from "./head-tracker.ts";
import type { LightClientServer } from "./light-client/light-client-server.ts";
import type { PayloadVerification } from "./payload-verification.ts";
import type { Pools } from "./pools/pools.ts";
import type { PayloadAnnouncer } from "./production/payload-announcer.ts";
import type { Pubkeys } from "./pubkeys.ts";
import type { SnapshotStore } from "./states/snapshot-store.ts";
import type { StateStore } from "./states/state-store.ts";
import type { CommitteeSubscriptions } from "./subscriptions/committee-subscriptions.ts";
import type { SyncSubscriptions } from "./subscriptions/sync-subscriptions.ts";

/** Whatever of a chain changes as it goes on, but for its database and its clock. */
interface ChangingParts {
  forkChoice: ForkChoice;
  payloads: PayloadVerification;
  blocks: BlockStore;
  states: StateStore;
  snapshots: SnapshotStore;
  pubkeys: Pubkeys;
  pools: Pools;
  tracker: HeadTracker;
  archiver: FinalityArchiver;
  lightClient: LightClientServer;
  subscriptions: CommitteeSubscriptions;
  syncSubscriptions: SyncSubscriptions;
  payloadAnnouncer: PayloadAnnouncer;
}

/** A moment of a chain; it can be gone back to once. */
export type Moment = ReturnType<Moments["capture"]>;

/** The memory of a chain at moments, to which it can be made to go back, also to before what is final. */
export class Moments {
  readonly #parts: ChangingParts;

  constructor(parts: ChangingParts) {
    this.#parts = parts;
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
      head: parts.tracker.capture(),
      archived: parts.archiver.capture(),
      lightClient: parts.lightClient.capture(),
      subscriptions: parts.subscriptions.capture(),
      syncSubscriptions: parts.syncSubscriptions.capture(),
    };
  }

  /** Up to this slot the chain of a moment is that of now. */
  async forkSlot({ forkChoice: { nodes, head } }: Moment): Promise<Slot> {
    const byRoot = new Map(nodes.map(({ block }) => [block.root, block]));
    for (let block = byRoot.get(head.root); block; block = byRoot.get(block.parentRoot)) {
      if (await this.#parts.blocks.isCanonical(block.root, block.slot)) return block.slot;
    }
    return GENESIS_SLOT;
  }

  /** Goes back to a moment, to which the database has gone back already, and tells of the head of then. */
  restore(moment: Moment, forkSlot: Slot): void {
    const parts = this.#parts;
    parts.blocks.clear();
    parts.forkChoice.restore(moment.forkChoice);
    parts.payloads.restore(moment.unverifiedFrom);
    parts.states.restore(moment.states);
    parts.snapshots.restore(moment.snapshots);
    parts.pubkeys.restore(moment.pubkeys);
    parts.pools.restore(moment.pools);
    parts.archiver.restore(moment.archived);
    parts.lightClient.restore(moment.lightClient);
    parts.subscriptions.restore(moment.subscriptions);
    parts.syncSubscriptions.restore(moment.syncSubscriptions);
    parts.payloadAnnouncer.forget();
    parts.tracker.restore(moment.head, forkSlot);
  }
}
