import { BitArray } from "@chainsafe/ssz";
import { ATTESTATION_SUBNET_COUNT, isForkPostFulu, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Custody } from "../../chain/data/custody.ts";
import { subnetOfColumn } from "../../data/custody.ts";
import { activeForkBoundaries } from "../gossip/topics.ts";
import type { LocalNode } from "../local-node.ts";
import type { SubnetNeeds } from "../peers/subnet-coverage.ts";
import { computeSubscribedSubnets } from "./subscribed-subnets.ts";

/** Number of slots before publishing an attestation on a subnet in which to find peers there. */
const SLOTS_TO_FIND_PEERS = 2;

interface SubnetManagerParts {
  chain: Pick<BeaconChain, "config" | "clock" | "subscriptions" | "syncSubscriptions"> & {
    data: { custody: Pick<Custody, "sampled" | "onRaised"> };
  };
  node: LocalNode;
  /** The discv5 node id (32 bytes). */
  nodeId: Uint8Array;
  topics: SubnetTopics;
}

/**
 * Selects the subnets to join: the node id's long-lived subnets, which are announced; subnets for which connected
 * validators aggregate, until the slot has passed; the sync committee subnets of connected validators; and the subnets
 * of the sampled columns.
 */
export class SubnetManager implements SubnetNeeds {
  readonly #parts: SubnetManagerParts;
  readonly #unsubscribes: (() => void)[] = [];
  #longLived: { epoch: Epoch; subnets: readonly number[] } | undefined;
  #isRefreshDue = false;
  #joined: ReadonlySet<number> = new Set();
  #joinedSync: ReadonlySet<number> = new Set();
  #joinedColumns: ReadonlySet<number> = new Set();

  constructor(parts: SubnetManagerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { chain } = this.#parts;
    const refreshSoon = () => this.#refreshSoon();
    this.#unsubscribes.push(
      chain.clock.onSlot(() => this.#refresh()),
      chain.subscriptions.onAdded(refreshSoon),
      chain.syncSubscriptions.onAdded(refreshSoon),
      chain.data.custody.onRaised(refreshSoon),
    );
    this.#refresh();
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
  }

  /**
   * Returns the wanted attestation subnets, including those on which a connected validator will publish within the next
   * slots.
   */
  wantedAttestation(): ReadonlySet<number> {
    const { subscriptions, clock } = this.#parts.chain;
    const soon = subscriptions
      .list()
      .filter(({ slot }) => slot >= clock.currentSlot && slot <= clock.currentSlot + SLOTS_TO_FIND_PEERS);
    return new Set([...this.#joined, ...soon.map(({ subnet }) => subnet)]);
  }

  wantedSync(): ReadonlySet<number> {
    return this.#joinedSync;
  }

  /** Returns the wanted column subnets. Empty until columns are about to be gossiped. */
  wantedColumns(): ReadonlySet<number> {
    const { config, clock } = this.#parts.chain;
    const haveColumns = activeForkBoundaries(config, clock.currentEpoch).some(({ fork }) => isForkPostFulu(fork));
    return haveColumns ? this.#joinedColumns : new Set();
  }

  /** Coalesces updates for a batch of subscriptions. */
  #refreshSoon(): void {
    if (this.#isRefreshDue) return;
    this.#isRefreshDue = true;
    queueMicrotask(() => {
      this.#isRefreshDue = false;
      if (this.#unsubscribes.length > 0) this.#refresh();
    });
  }

  #refresh(): void {
    const { chain, node, topics } = this.#parts;
    const { currentSlot } = chain.clock;
    const epoch = computeEpochAtSlot(currentSlot);
    const longLived = this.#longLivedAt(epoch);
    // The chain may or may not have dropped expired subscriptions on the same slot event yet.
    const aggregated = chain.subscriptions
      .list()
      .filter(({ isAggregator, slot }) => isAggregator && slot >= currentSlot)
      .map(({ subnet }) => subnet);
    const sync = chain.syncSubscriptions
      .list()
      .filter(({ untilEpoch }) => untilEpoch > epoch)
      .map(({ subnet }) => subnet);
    const joined = new Set([...longLived, ...aggregated]);
    const joinedSync = new Set(sync);
    const joinedColumns = new Set(chain.data.custody.sampled.map((column) => subnetOfColumn(chain.config, column)));
    if (!sameMembers(joined, this.#joined)) topics.setAttestationSubnets(joined);
    if (!sameMembers(joinedSync, this.#joinedSync)) topics.setSyncSubnets(joinedSync);
    if (!sameMembers(joinedColumns, this.#joinedColumns)) topics.setColumnSubnets(joinedColumns);
    this.#joined = joined;
    this.#joinedSync = joinedSync;
    this.#joinedColumns = joinedColumns;
    node.announce({
      attnets: bitsOf(longLived, ATTESTATION_SUBNET_COUNT),
      syncnets: bitsOf(sync, SYNC_COMMITTEE_SUBNET_COUNT),
    });
  }

  #longLivedAt(epoch: Epoch): readonly number[] {
    if (this.#longLived?.epoch !== epoch) {
      const { chain, nodeId } = this.#parts;
      this.#longLived = { epoch, subnets: computeSubscribedSubnets(chain.config, nodeId, epoch) };
    }
    return this.#longLived.subnets;
  }
}

function sameMembers(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((member) => b.has(member));
}

function bitsOf(members: readonly number[], length: number): BitArray {
  return BitArray.fromBoolArray(Array.from({ length }, (_, index) => members.includes(index)));
}

/** Sets the subnets to subscribe to. Topics change immediately. */
export interface SubnetTopics {
  setAttestationSubnets(subnets: ReadonlySet<number>): void;
  setSyncSubnets(subnets: ReadonlySet<number>): void;
  setColumnSubnets(subnets: ReadonlySet<number>): void;
}
