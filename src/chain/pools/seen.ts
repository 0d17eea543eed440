import type { BitArray } from "@chainsafe/ssz";
import { SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import type { altair, CommitteeIndex, Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { copyMap } from "../../collections/copy-map.ts";
import { countBits, isSubset } from "./bit-sets.ts";

// Seen caches for gossip validation. "Seen" means seen and *valid*: callers check early and add entries after all other
// checks. `restore` replaces the contents with the result of `capture`.

interface AttestationsOfEpoch {
  /** For each validator, the index of its data root plus one; 0 if the validator was not seen. */
  rootOfValidator: Uint32Array<ArrayBuffer>;
  roots: RootHex[];
  positions: Map<RootHex, number>;
}

/**
 * Attesters by target epoch, with the attested data (p2p-interface.md, beacon_attestation_{subnet_id}). Stores four
 * bytes per validator and epoch: an index into the list of distinct data roots.
 */
export class SeenAttesters {
  #epochs = new Map<Epoch, AttestationsOfEpoch>();

  capture(): Map<Epoch, AttestationsOfEpoch> {
    return copyMap(this.#epochs, ({ rootOfValidator, roots, positions }) => ({
      rootOfValidator: rootOfValidator.slice(),
      roots: [...roots],
      positions: new Map(positions),
    }));
  }

  restore(epochs: Map<Epoch, AttestationsOfEpoch>): void {
    this.#epochs = epochs;
  }

  has(epoch: Epoch, validator: ValidatorIndex): boolean {
    return this.dataRoot(epoch, validator) !== undefined;
  }

  /** Returns the data root the validator attested to, if seen. */
  dataRoot(epoch: Epoch, validator: ValidatorIndex): RootHex | undefined {
    const ofEpoch = this.#epochs.get(epoch);
    return ofEpoch?.roots[(ofEpoch.rootOfValidator[validator] ?? 0) - 1];
  }

  /** Returns true for the first attestation. A later attestation does not replace the first one. */
  add(epoch: Epoch, validator: ValidatorIndex, dataRoot: RootHex): boolean {
    if (this.has(epoch, validator)) return false;
    const ofEpoch = getOrCreate(this.#epochs, epoch, () => ({
      rootOfValidator: new Uint32Array(0),
      roots: [],
      positions: new Map<RootHex, number>(),
    }));
    const position = getOrCreate(ofEpoch.positions, dataRoot, () => ofEpoch.roots.push(dataRoot));
    if (validator >= ofEpoch.rootOfValidator.length) {
      const grown = new Uint32Array(sizeFor(validator));
      grown.set(ofEpoch.rootOfValidator);
      ofEpoch.rootOfValidator = grown;
    }
    ofEpoch.rootOfValidator[validator] = position;
    return true;
  }

  prune(currentEpoch: Epoch): void {
    dropOldEpochs(this.#epochs, currentEpoch);
  }
}

/** Aggregators by target epoch (p2p-interface.md, beacon_aggregate_and_proof). One bit per validator and epoch. */
export class SeenAggregators {
  #epochs = new Map<Epoch, Uint8Array>();

  capture(): Map<Epoch, Uint8Array> {
    return copyMap(this.#epochs, (bits) => bits.slice());
  }

  restore(epochs: Map<Epoch, Uint8Array>): void {
    this.#epochs = epochs;
  }

  has(epoch: Epoch, validator: ValidatorIndex): boolean {
    const byte = this.#epochs.get(epoch)?.[validator >>> 3] ?? 0;
    return ((byte >> (validator & 7)) & 1) === 1;
  }

  /** Returns true the first time. */
  add(epoch: Epoch, validator: ValidatorIndex): boolean {
    if (this.has(epoch, validator)) return false;
    const byteIndex = validator >>> 3;
    let bits = this.#epochs.get(epoch) ?? new Uint8Array(0);
    if (byteIndex >= bits.length) {
      const grown = new Uint8Array(sizeFor(byteIndex));
      grown.set(bits);
      bits = grown;
      this.#epochs.set(epoch, bits);
    }
    bits[byteIndex] = bits[byteIndex]! | (1 << (validator & 7));
    return true;
  }

  prune(currentEpoch: Epoch): void {
    dropOldEpochs(this.#epochs, currentEpoch);
  }
}

/** Doubles the capacity to amortize copies. */
const sizeFor = (index: number) => Math.max(64, (index + 1) * 2);

/** Bounded set of maximal bit sets, none a subset of another. Evicting a set only costs a repeated check. */
class MaximalBitSets {
  static readonly #MAX_SETS = 16;
  #sets: BitArray[] = [];

  copy(): MaximalBitSets {
    const copy = new MaximalBitSets();
    copy.#sets = [...this.#sets];
    return copy;
  }

  hasSupersetOf(bits: BitArray): boolean {
    return this.#sets.some((set) => isSubset(bits, set));
  }

  add(bits: BitArray): boolean {
    if (this.hasSupersetOf(bits)) return false;
    this.#sets = this.#sets.filter((set) => !isSubset(set, bits));
    if (this.#sets.length >= MaximalBitSets.#MAX_SETS) {
      this.#sets.sort((a, b) => countBits(b) - countBits(a)).pop();
    }
    this.#sets.push(bits.clone());
    return true;
  }
}

/** Participants in seen aggregates, used to ignore aggregates without new participants (beacon_aggregate_and_proof). */
export class SeenAggregates {
  #epochs = new Map<Epoch, Map<string, MaximalBitSets>>();

  capture(): Map<Epoch, Map<string, MaximalBitSets>> {
    return copyMap(this.#epochs, (byKey) => copyMap(byKey, (sets) => sets.copy()));
  }

  restore(epochs: Map<Epoch, Map<string, MaximalBitSets>>): void {
    this.#epochs = epochs;
  }

  /** Returns true if an aggregate with at least these attesters was seen. */
  hasSuperset(targetEpoch: Epoch, dataRoot: RootHex, committeeIndex: CommitteeIndex, bits: BitArray): boolean {
    return this.#epochs.get(targetEpoch)?.get(aggregateKey(dataRoot, committeeIndex))?.hasSupersetOf(bits) ?? false;
  }

  /** Returns true if the aggregate has new attesters. */
  add(targetEpoch: Epoch, dataRoot: RootHex, committeeIndex: CommitteeIndex, bits: BitArray): boolean {
    const byKey = getOrCreate(this.#epochs, targetEpoch, () => new Map<string, MaximalBitSets>());
    return getOrCreate(byKey, aggregateKey(dataRoot, committeeIndex), () => new MaximalBitSets()).add(bits);
  }

  prune(currentEpoch: Epoch): void {
    dropOldEpochs(this.#epochs, currentEpoch);
  }
}

/** Includes the committee, because the data root alone does not identify it since Electra. */
const aggregateKey = (dataRoot: RootHex, committeeIndex: CommitteeIndex) => `${dataRoot}:${committeeIndex}`;

interface FirstBlock {
  readonly root: RootHex;
  /** True if a builder holds the block and will return it with its payload. */
  readonly isExpected: boolean;
}

/** First block per proposer and slot (p2p-interface.md, beacon_block). */
export class SeenBlockProposers {
  #slots = new Map<Slot, Map<ValidatorIndex, FirstBlock>>();

  capture(): Map<Slot, Map<ValidatorIndex, FirstBlock>> {
    return copyMap(this.#slots, (byProposer) => new Map(byProposer));
  }

  restore(slots: Map<Slot, Map<ValidatorIndex, FirstBlock>>): void {
    this.#slots = slots;
  }

  /** Returns the root of the first block, whether seen or expected. */
  root(slot: Slot, proposer: ValidatorIndex): RootHex | undefined {
    return this.#slots.get(slot)?.get(proposer)?.root;
  }

  /** True if the first block is still expected. */
  isExpected(slot: Slot, proposer: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.get(proposer)?.isExpected ?? false;
  }

  /** Returns true for the first block. A later block does not replace the first one. */
  add(slot: Slot, proposer: ValidatorIndex, root: RootHex): boolean {
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, FirstBlock>());
    const first = byProposer.get(proposer);
    if (first && !(first.isExpected && first.root === root)) return false;
    byProposer.set(proposer, { root, isExpected: false });
    return true;
  }

  /** Marks a blinded block as expected. Only the full version of that block will be accepted later. */
  expect(slot: Slot, proposer: ValidatorIndex, root: RootHex): void {
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, FirstBlock>());
    if (!byProposer.has(proposer)) byProposer.set(proposer, { root, isExpected: true });
  }

  /** Drops blocks at or before the finalized slot, which gossip ignores. */
  prune(finalizedSlot: Slot): void {
    for (const slot of this.#slots.keys()) {
      if (slot <= finalizedSlot) this.#slots.delete(slot);
    }
  }
}

/**
 * Seen sidecars by slot, proposer and block (p2p-interface.md, blob_sidecar_{subnet_id} and
 * data_column_sidecar_{subnet_id}). One bit per index, up to 128 per block.
 */
export class SeenSidecars {
  #slots = new Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>>();

  capture(): Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>> {
    return copyMap(this.#slots, (byProposer) => copyMap(byProposer, (byRoot) => new Map(byRoot)));
  }

  restore(slots: Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>>): void {
    this.#slots = slots;
  }

  /** Returns the block root of the first sidecar seen with that index. */
  root(slot: Slot, proposer: ValidatorIndex, index: number): RootHex | undefined {
    const byRoot = this.#slots.get(slot)?.get(proposer) ?? [];
    for (const [root, indices] of byRoot) if ((indices >> BigInt(index)) & 1n) return root;
    return undefined;
  }

  /** Returns true for the first sidecar. A later sidecar does not replace the first one. */
  add(slot: Slot, proposer: ValidatorIndex, index: number, root: RootHex): boolean {
    if (this.root(slot, proposer, index) !== undefined) return false;
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, Map<RootHex, bigint>>());
    const byRoot = getOrCreate(byProposer, proposer, () => new Map<RootHex, bigint>());
    byRoot.set(root, (byRoot.get(root) ?? 0n) | (1n << BigInt(index)));
    return true;
  }

  /** Drops sidecars at or before the finalized slot, which gossip ignores. */
  prune(finalizedSlot: Slot): void {
    for (const slot of this.#slots.keys()) {
      if (slot <= finalizedSlot) this.#slots.delete(slot);
    }
  }
}

const memberKey = (subcommittee: number, validator: ValidatorIndex) =>
  validator * SYNC_COMMITTEE_SUBNET_COUNT + subcommittee;

/** Sync committee messages by slot, subcommittee and validator (p2p-interface.md, sync_committee_{subnet_id}). */
export class SeenSyncMessages {
  #slots = new Map<Slot, Map<number, RootHex | undefined>>();

  capture(): Map<Slot, Map<number, RootHex | undefined>> {
    return copyMap(this.#slots, (rootOfMember) => new Map(rootOfMember));
  }

  restore(slots: Map<Slot, Map<number, RootHex | undefined>>): void {
    this.#slots = slots;
  }

  has(slot: Slot, subcommittee: number, validator: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.has(memberKey(subcommittee, validator)) ?? false;
  }

  /** Returns the signed block root, if recorded. */
  root(slot: Slot, subcommittee: number, validator: ValidatorIndex): RootHex | undefined {
    return this.#slots.get(slot)?.get(memberKey(subcommittee, validator));
  }

  /** Returns true for the first message. A later message does not replace the first one. */
  add(slot: Slot, subcommittee: number, validator: ValidatorIndex, root?: RootHex): boolean {
    const rootOfMember = getOrCreate(this.#slots, slot, () => new Map<number, RootHex | undefined>());
    const key = memberKey(subcommittee, validator);
    if (rootOfMember.has(key)) return false;
    rootOfMember.set(key, root);
    return true;
  }

  prune(currentSlot: Slot): void {
    dropOldSyncSlots(this.#slots, currentSlot);
  }
}

interface ContributionsOfSlot {
  aggregators: Set<number>;
  participants: Map<string, MaximalBitSets>;
}

/** Contributions by aggregator and by participants (sync_committee_contribution_and_proof). */
export class SeenContributions {
  #slots = new Map<Slot, ContributionsOfSlot>();

  capture(): Map<Slot, ContributionsOfSlot> {
    return copyMap(this.#slots, ({ aggregators, participants }) => ({
      aggregators: new Set(aggregators),
      participants: copyMap(participants, (sets) => sets.copy()),
    }));
  }

  restore(slots: Map<Slot, ContributionsOfSlot>): void {
    this.#slots = slots;
  }

  hasAggregator(slot: Slot, subcommittee: number, aggregator: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.aggregators.has(memberKey(subcommittee, aggregator)) ?? false;
  }

  /** Returns true if a contribution with at least these participants was seen. */
  hasSuperset(contribution: altair.SyncCommitteeContribution): boolean {
    const participants = this.#slots.get(contribution.slot)?.participants.get(contributionKey(contribution));
    return participants?.hasSupersetOf(contribution.aggregationBits) ?? false;
  }

  add(contribution: altair.SyncCommitteeContribution, aggregator: ValidatorIndex): void {
    const { aggregators, participants } = getOrCreate(this.#slots, contribution.slot, () => ({
      aggregators: new Set<number>(),
      participants: new Map<string, MaximalBitSets>(),
    }));
    aggregators.add(memberKey(contribution.subcommitteeIndex, aggregator));
    getOrCreate(participants, contributionKey(contribution), () => new MaximalBitSets()).add(
      contribution.aggregationBits,
    );
  }

  prune(currentSlot: Slot): void {
    dropOldSyncSlots(this.#slots, currentSlot);
  }
}

const contributionKey = ({ beaconBlockRoot, subcommitteeIndex }: altair.SyncCommitteeContribution) =>
  `${toRootHex(beaconBlockRoot)}:${subcommitteeIndex}`;

/** Gossip accepts only messages for the current slot, with a tolerance for clock disparity. */
const SYNC_SLOTS_KEPT = 3;

/** Keeps only the current and the previous epoch, because gossip accepts no others. */
function dropOldEpochs(epochs: Map<Epoch, unknown>, currentEpoch: Epoch): void {
  for (const epoch of epochs.keys()) {
    if (epoch < currentEpoch - 1) epochs.delete(epoch);
  }
}

function dropOldSyncSlots(slots: Map<Slot, unknown>, currentSlot: Slot): void {
  for (const slot of slots.keys()) {
    if (slot <= currentSlot - SYNC_SLOTS_KEPT) slots.delete(slot);
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
