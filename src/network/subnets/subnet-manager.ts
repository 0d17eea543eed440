import { BitArray } from "@chainsafe/ssz";
import { ATTESTATION_SUBNET_COUNT, isForkPostFulu, SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Custody } from "../../chain/data/custody.ts";
import { subnetOfColumn } from "../../data/custody.ts";
import { boundariesInForce } from "../gossip/topics.ts";
import type { LocalNode } from "../local-node.ts";
import type { SubnetNeeds } from "../peers/subnet-coverage.ts";
import { subnetsOfNode } from "./node-subnets.ts";

/** Peers of a subnet take a while to find, so they are wanted this many slots before an attestation has to reach them. */
const SLOTS_TO_FIND_PEERS = 2;

interface SubnetManagerParts {
  chain: Pick<BeaconChain, "config" | "clock" | "subscriptions" | "syncSubscriptions"> & {
    data: { custody: Pick<Custody, "sampled" | "onRaised"> };
  };
  node: LocalNode;
  /** The id by which discovery knows the node, 32 bytes. */
  nodeId: Uint8Array;
  topics: SubnetTopics;
}

/**
 * Decides in which subnets the node takes part: those that its id gives it for months, which it announces; those whose
 * attestations a client of ours will aggregate, until the slot is over; those of the sync committees of our clients; and those of
 * the columns that it samples.
 */
export class SubnetManager implements SubnetNeeds {
  readonly #parts: SubnetManagerParts;
  readonly #endings: (() => void)[] = [];
  #lasting: { epoch: Epoch; subnets: readonly number[] } | undefined;
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
    this.#endings.push(
      chain.clock.onSlot(() => this.#refresh()),
      chain.subscriptions.onAdded(refreshSoon),
      chain.syncSubscriptions.onAdded(refreshSoon),
      chain.data.custody.onRaised(refreshSoon),
    );
    this.#refresh();
  }

  close(): void {
    for (const end of this.#endings.splice(0)) end();
  }

  /** Also the subnets that a client's attestation goes to in the next slots: it must be handed to somebody there. */
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

  /** None while columns are not about to be gossiped. */
  wantedColumns(): ReadonlySet<number> {
    const { config, clock } = this.#parts.chain;
    const haveColumns = boundariesInForce(config, clock.currentEpoch).some(({ fork }) => isForkPostFulu(fork));
    return haveColumns ? this.#joinedColumns : new Set();
  }

  /** Clients add many subscriptions at a time; the topics follow when all of them are in. */
  #refreshSoon(): void {
    if (this.#isRefreshDue) return;
    this.#isRefreshDue = true;
    queueMicrotask(() => {
      this.#isRefreshDue = false;
      if (this.#endings.length > 0) this.#refresh();
    });
  }

  #refresh(): void {
    const { chain, node, topics } = this.#parts;
    const { currentSlot } = chain.clock;
    const epoch = computeEpochAtSlot(currentSlot);
    const lasting = this.#lastingAt(epoch);
    // Whether the chain has dropped what is over already depends on which of us hears of the slot first.
    const aggregated = chain.subscriptions
      .list()
      .filter(({ isAggregator, slot }) => isAggregator && slot >= currentSlot)
      .map(({ subnet }) => subnet);
    const sync = chain.syncSubscriptions
      .list()
      .filter(({ untilEpoch }) => untilEpoch > epoch)
      .map(({ subnet }) => subnet);
    const joined = new Set([...lasting, ...aggregated]);
    const joinedSync = new Set(sync);
    const joinedColumns = new Set(chain.data.custody.sampled.map((column) => subnetOfColumn(chain.config, column)));
    if (!sameMembers(joined, this.#joined)) topics.setAttestationSubnets(joined);
    if (!sameMembers(joinedSync, this.#joinedSync)) topics.setSyncSubnets(joinedSync);
    if (!sameMembers(joinedColumns, this.#joinedColumns)) topics.setColumnSubnets(joinedColumns);
    this.#joined = joined;
    this.#joinedSync = joinedSync;
    this.#joinedColumns = joinedColumns;
    node.announce({
      attnets: bitsOf(lasting, ATTESTATION_SUBNET_COUNT),
      syncnets: bitsOf(sync, SYNC_COMMITTEE_SUBNET_COUNT),
    });
  }

  #lastingAt(epoch: Epoch): readonly number[] {
    if (this.#lasting?.epoch !== epoch) {
      const { chain, nodeId } = this.#parts;
      this.#lasting = { epoch, subnets: subnetsOfNode(chain.config, nodeId, epoch) };
    }
    return this.#lasting.subnets;
  }
}

function sameMembers(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((member) => b.has(member));
}

function bitsOf(members: readonly number[], length: number): BitArray {
  return BitArray.fromBoolArray(Array.from({ length }, (_, index) => members.includes(index)));
}

/** Which subnets' messages this node takes part in; the topics follow at once. */
export interface SubnetTopics {
  setAttestationSubnets(subnets: ReadonlySet<number>): void;
  setSyncSubnets(subnets: ReadonlySet<number>): void;
  setColumnSubnets(subnets: ReadonlySet<number>): void;
}
