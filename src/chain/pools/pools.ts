import type { BeaconConfig } from "@lodestar/config";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { AttestationPool } from "./attestation-pool.ts";
import { OperationPool } from "./operation-pool.ts";
import { PayloadAttestationPool } from "./payload-attestation-pool.ts";
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
import { SeenPayloads } from "./seen-payloads.ts";
import { SyncCommitteePool } from "./sync-committee-pool.ts";

export type PoolsSnapshot = ReturnType<Pools["capture"]>;

/** Operation pools and seen caches. */
export class Pools {
  readonly attestations = new AttestationPool();
  readonly operations = new OperationPool();
  readonly syncCommittee = new SyncCommitteePool();
  readonly payloadAttestations = new PayloadAttestationPool();
  readonly seen = {
    attesters: new SeenAttesters(),
    aggregators: new SeenAggregators(),
    aggregates: new SeenAggregates(),
    blockProposers: new SeenBlockProposers(),
    syncMessages: new SeenSyncMessages(),
    contributions: new SeenContributions(),
    sidecars: new SeenSidecars(),
    payloads: new SeenPayloads(),
  };

  capture() {
    const { attesters, aggregators, aggregates, blockProposers, syncMessages, contributions, sidecars, payloads } =
      this.seen;
    return {
      attestations: this.attestations.capture(),
      operations: this.operations.capture(),
      syncCommittee: this.syncCommittee.capture(),
      payloadAttestations: this.payloadAttestations.capture(),
      attesters: attesters.capture(),
      aggregators: aggregators.capture(),
      aggregates: aggregates.capture(),
      blockProposers: blockProposers.capture(),
      syncMessages: syncMessages.capture(),
      contributions: contributions.capture(),
      sidecars: sidecars.capture(),
      payloads: payloads.capture(),
    };
  }

  /** Replaces all contents. */
  restore(snapshot: PoolsSnapshot): void {
    this.attestations.restore(snapshot.attestations);
    this.operations.restore(snapshot.operations);
    this.syncCommittee.restore(snapshot.syncCommittee);
    this.payloadAttestations.restore(snapshot.payloadAttestations);
    this.seen.attesters.restore(snapshot.attesters);
    this.seen.aggregators.restore(snapshot.aggregators);
    this.seen.aggregates.restore(snapshot.aggregates);
    this.seen.blockProposers.restore(snapshot.blockProposers);
    this.seen.syncMessages.restore(snapshot.syncMessages);
    this.seen.contributions.restore(snapshot.contributions);
    this.seen.sidecars.restore(snapshot.sidecars);
    this.seen.payloads.restore(snapshot.payloads);
  }

  /** Drops entries that are too old for inclusion and gossip. */
  pruneBySlot(slot: Slot): void {
    // Because of clock disparity, gossip accepts an epoch's attestations slightly beyond the end of the next epoch.
    const epoch = computeEpochAtSlot(Math.max(slot - 1, 0));
    this.attestations.prune(slot);
    this.syncCommittee.prune(slot);
    this.payloadAttestations.prune(slot);
    this.seen.attesters.prune(epoch);
    this.seen.aggregators.prune(epoch);
    this.seen.aggregates.prune(epoch);
    this.seen.syncMessages.prune(slot);
    this.seen.contributions.prune(slot);
    this.seen.payloads.pruneBySlot(slot);
  }

  /** Drops entries made obsolete by finality. */
  pruneByFinality(finalizedState: CachedBeaconStateAllForks): void {
    this.operations.prune(finalizedState);
    this.seen.blockProposers.prune(finalizedState.slot);
    this.seen.sidecars.prune(finalizedState.slot);
    this.seen.payloads.pruneByFinality(finalizedState.slot);
  }

  /** Stores all pools. */
  async save(db: BeaconDb, config: BeaconConfig): Promise<void> {
    await db.operations.replaceAll([...this.operations.dump(), ...writeAttestations(config, this)]);
  }

  /**
   * Stores only the operations. Called while the chain is running: attestations expire too soon to be worth storing.
   */
  async saveOperations(db: BeaconDb): Promise<void> {
    await db.operations.replaceAll(this.operations.dump());
  }

  /**
   * Loads stored operations. Returns the number of unreadable lists, and the stored attestations, which the caller must
   * check against the chain.
   */
  async load(db: BeaconDb, config: BeaconConfig): Promise<PooledAttestations & { unreadable: number }> {
    const loaded = { attestations: [], contributions: [], payloadAttestations: [], unreadable: 0 };
    for (const list of await db.operations.getAll()) {
      try {
        if (isStoredAttestations(list)) readAttestations(config, list, loaded);
        else this.operations.load([list]);
      } catch {
        loaded.unreadable++;
      }
    }
    return loaded;
  }
}
