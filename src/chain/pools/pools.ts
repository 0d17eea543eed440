import type { BeaconConfig } from "@lodestar/config";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { AttestationPool } from "./attestation-pool.ts";
import { OperationPool } from "./operation-pool.ts";
import { isStoredAttestations, type PooledAttestations, readAttestations, writeAttestations } from "./pool-storage.ts";
import {
  SeenAggregates,
  SeenAggregators,
  SeenAttesters,
  SeenBlockProposers,
  SeenContributions,
  SeenSidecars,
  SeenSyncMessages,
} from "./seen.ts";
import { SyncCommitteePool } from "./sync-committee-pool.ts";

export type PoolsMoment = ReturnType<Pools["capture"]>;

/** What waits to be included in blocks, and the memory of what was seen before. */
export class Pools {
  readonly attestations = new AttestationPool();
  readonly operations = new OperationPool();
  readonly syncCommittee = new SyncCommitteePool();
  readonly seen = {
    attesters: new SeenAttesters(),
    aggregators: new SeenAggregators(),
    aggregates: new SeenAggregates(),
    blockProposers: new SeenBlockProposers(),
    syncMessages: new SeenSyncMessages(),
    contributions: new SeenContributions(),
    sidecars: new SeenSidecars(),
  };

  capture() {
    const { attesters, aggregators, aggregates, blockProposers, syncMessages, contributions, sidecars } = this.seen;
    return {
      attestations: this.attestations.capture(),
      operations: this.operations.capture(),
      syncCommittee: this.syncCommittee.capture(),
      attesters: attesters.capture(),
      aggregators: aggregators.capture(),
      aggregates: aggregates.capture(),
      blockProposers: blockProposers.capture(),
      syncMessages: syncMessages.capture(),
      contributions: contributions.capture(),
      sidecars: sidecars.capture(),
    };
  }

  /** Takes the moment over, instead of all that is held and was seen. */
  restore(moment: PoolsMoment): void {
    this.attestations.restore(moment.attestations);
    this.operations.restore(moment.operations);
    this.syncCommittee.restore(moment.syncCommittee);
    this.seen.attesters.restore(moment.attesters);
    this.seen.aggregators.restore(moment.aggregators);
    this.seen.aggregates.restore(moment.aggregates);
    this.seen.blockProposers.restore(moment.blockProposers);
    this.seen.syncMessages.restore(moment.syncMessages);
    this.seen.contributions.restore(moment.contributions);
    this.seen.sidecars.restore(moment.sidecars);
  }

  /** Drops what is too old to be included or to arrive again. */
  pruneBySlot(slot: Slot): void {
    // Gossip still takes the attestations of an epoch when the one after the next has begun, for as long as clocks may differ.
    const epoch = computeEpochAtSlot(Math.max(slot - 1, 0));
    this.attestations.prune(slot);
    this.syncCommittee.prune(slot);
    this.seen.attesters.prune(epoch);
    this.seen.aggregators.prune(epoch);
    this.seen.aggregates.prune(epoch);
    this.seen.syncMessages.prune(slot);
    this.seen.contributions.prune(slot);
  }

  /** Drops what the finalized chain has made pointless. */
  pruneByFinality(finalizedState: CachedBeaconStateAllForks): void {
    this.operations.prune(finalizedState);
    this.seen.blockProposers.prune(finalizedState.slot);
    this.seen.sidecars.prune(finalizedState.slot);
  }

  /** Keeps everything that waits for a block over a restart. */
  async save(db: BeaconDb, config: BeaconConfig): Promise<void> {
    await db.operations.replaceAll([...this.operations.dump(), ...writeAttestations(config, this)]);
  }

  /** The same for operations alone, while the chain goes on: votes are out of date too soon. */
  async saveOperations(db: BeaconDb): Promise<void> {
    await db.operations.replaceAll(this.operations.dump());
  }

  /**
   * Takes the stored operations back. Attestations are returned: only the chain can tell what they are worth now.
   * `unreadable` says how many of the stored lists could not be read.
   */
  async load(db: BeaconDb, config: BeaconConfig): Promise<PooledAttestations & { unreadable: number }> {
    const loaded = { attestations: [], contributions: [], unreadable: 0 };
    for (const part of await db.operations.getAll()) {
      try {
        if (isStoredAttestations(part)) readAttestations(config, part, loaded);
        else this.operations.load([part]);
      } catch {
        loaded.unreadable++;
      }
    }
    return loaded;
  }
}
