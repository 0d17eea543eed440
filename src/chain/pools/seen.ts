import type { BitArray } from "@chainsafe/ssz";
import { SYNC_COMMITTEE_SUBNET_COUNT } from "@lodestar/params";
import type { altair, CommitteeIndex, Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { copyOfMap } from "../copy-of-map.ts";
import { countBits, isSubset } from "./bit-sets.ts";

// What gossip validation must remember to forward everything only once. "First seen" means first *valid*: callers ask
// early, and add when all other checks have passed. `restore` takes over what `capture` gave, instead of what is known.

interface AttestationsOfEpoch {
  /** Of each validator the position of its data root plus one; 0 stands for not seen. */
  rootOfValidator: Uint32Array<ArrayBuffer>;
  roots: RootHex[];
  positions: Map<RootHex, number>;
}

/**
 * Validators whose attestation for a target epoch was seen, and for which data ("beacon_attestation_{subnet_id}", p2p
 * interface). Four bytes for each validator and epoch: the data roots are few and kept once.
 */
export class SeenAttesters {
  #epochs = new Map<Epoch, AttestationsOfEpoch>();

  capture(): Map<Epoch, AttestationsOfEpoch> {
    return copyOfMap(this.#epochs, ({ rootOfValidator, roots, positions }) => ({
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

  /** What the validator attested to, if it was seen to attest. */
  dataRoot(epoch: Epoch, validator: ValidatorIndex): RootHex | undefined {
    const ofEpoch = this.#epochs.get(epoch);
    return ofEpoch?.roots[(ofEpoch.rootOfValidator[validator] ?? 0) - 1];
  }

  /** Answers whether this is the first attestation; a later one does not replace it. */
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

/**
 * Aggregators whose aggregate for a target epoch was seen ("beacon_aggregate_and_proof", p2p interface). One bit for
 * each validator and epoch.
 */
export class SeenAggregators {
  #epochs = new Map<Epoch, Uint8Array>();

  capture(): Map<Epoch, Uint8Array> {
    return copyOfMap(this.#epochs, (bits) => bits.slice());
  }

  restore(epochs: Map<Epoch, Uint8Array>): void {
    this.#epochs = epochs;
  }

  has(epoch: Epoch, validator: ValidatorIndex): boolean {
    const byte = this.#epochs.get(epoch)?.[validator >>> 3] ?? 0;
    return ((byte >> (validator & 7)) & 1) === 1;
  }

  /** Answers whether this is the first time. */
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

/** Doubling keeps the copying rare while higher and higher indices come. */
const sizeFor = (index: number) => Math.max(64, (index + 1) * 2);

/** Sets of bits of which none is a subset of another, bounded: forgetting one costs a repeated check, no more. */
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

/** Which attesters were seen in aggregates, to ignore one that brings nobody new ("beacon_aggregate_and_proof"). */
export class SeenAggregates {
  #epochs = new Map<Epoch, Map<string, MaximalBitSets>>();

  capture(): Map<Epoch, Map<string, MaximalBitSets>> {
    return copyOfMap(this.#epochs, (byKey) => copyOfMap(byKey, (sets) => sets.copy()));
  }

  restore(epochs: Map<Epoch, Map<string, MaximalBitSets>>): void {
    this.#epochs = epochs;
  }

  /** Whether an aggregate with all of these attesters, or more, was seen. */
  hasSuperset(targetEpoch: Epoch, dataRoot: RootHex, committeeIndex: CommitteeIndex, bits: BitArray): boolean {
    return this.#epochs.get(targetEpoch)?.get(aggregateKey(dataRoot, committeeIndex))?.hasSupersetOf(bits) ?? false;
  }

  /** Answers whether the aggregate brings somebody new. */
  add(targetEpoch: Epoch, dataRoot: RootHex, committeeIndex: CommitteeIndex, bits: BitArray): boolean {
    const byKey = getOrCreate(this.#epochs, targetEpoch, () => new Map<string, MaximalBitSets>());
    return getOrCreate(byKey, aggregateKey(dataRoot, committeeIndex), () => new MaximalBitSets()).add(bits);
  }

  prune(currentEpoch: Epoch): void {
    dropOldEpochs(this.#epochs, currentEpoch);
  }
}

/** From electra on the data root alone does not say which committee attested. */
const aggregateKey = (dataRoot: RootHex, committeeIndex: CommitteeIndex) => `${dataRoot}:${committeeIndex}`;

interface FirstBlock {
  readonly root: RootHex;
  /** A builder is to complete it. */
  readonly isExpected: boolean;
}

/** The first block of each proposer and slot ("beacon_block", p2p interface). */
export class SeenBlockProposers {
  #slots = new Map<Slot, Map<ValidatorIndex, FirstBlock>>();

  capture(): Map<Slot, Map<ValidatorIndex, FirstBlock>> {
    return copyOfMap(this.#slots, (byProposer) => new Map(byProposer));
  }

  restore(slots: Map<Slot, Map<ValidatorIndex, FirstBlock>>): void {
    this.#slots = slots;
  }

  /** The root of the first block, if one was seen or is expected. */
  root(slot: Slot, proposer: ValidatorIndex): RootHex | undefined {
    return this.#slots.get(slot)?.get(proposer)?.root;
  }

  /** Whether the first block was not seen as a whole yet. */
  isExpected(slot: Slot, proposer: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.get(proposer)?.isExpected ?? false;
  }

  /** Answers whether this is the first block; a later one does not replace it. */
  add(slot: Slot, proposer: ValidatorIndex, root: RootHex): boolean {
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, FirstBlock>());
    const first = byProposer.get(proposer);
    if (first && !(first.isExpected && first.root === root)) return false;
    byProposer.set(proposer, { root, isExpected: false });
    return true;
  }

  /** The same for a block that a builder is to complete: it still comes as a whole, and no other does. */
  expect(slot: Slot, proposer: ValidatorIndex, root: RootHex): void {
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, FirstBlock>());
    if (!byProposer.has(proposer)) byProposer.set(proposer, { root, isExpected: true });
  }

  /** Blocks at or before the latest finalized slot are ignored by gossip, so nothing is remembered of them. */
  prune(finalizedSlot: Slot): void {
    for (const slot of this.#slots.keys()) {
      if (slot <= finalizedSlot) this.#slots.delete(slot);
    }
  }
}

/**
 * Which sidecars of each block of a proposer were seen ("blob_sidecar_{subnet_id}", "data_column_sidecar_{subnet_id}", p2p interface). One bit
 * for each: a block has up to 128 of them.
 */
export class SeenSidecars {
  #slots = new Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>>();

  capture(): Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>> {
    return copyOfMap(this.#slots, (byProposer) => copyOfMap(byProposer, (byRoot) => new Map(byRoot)));
  }

  restore(slots: Map<Slot, Map<ValidatorIndex, Map<RootHex, bigint>>>): void {
    this.#slots = slots;
  }

  /** Of which block the first sidecar of that index was, if one was seen. */
  root(slot: Slot, proposer: ValidatorIndex, index: number): RootHex | undefined {
    const byRoot = this.#slots.get(slot)?.get(proposer) ?? [];
    for (const [root, indices] of byRoot) if ((indices >> BigInt(index)) & 1n) return root;
    return undefined;
  }

  /** Answers whether this is the first sidecar; a later one does not replace it. */
  add(slot: Slot, proposer: ValidatorIndex, index: number, root: RootHex): boolean {
    if (this.root(slot, proposer, index) !== undefined) return false;
    const byProposer = getOrCreate(this.#slots, slot, () => new Map<ValidatorIndex, Map<RootHex, bigint>>());
    const byRoot = getOrCreate(byProposer, proposer, () => new Map<RootHex, bigint>());
    byRoot.set(root, (byRoot.get(root) ?? 0n) | (1n << BigInt(index)));
    return true;
  }

  /** As of blocks. */
  prune(finalizedSlot: Slot): void {
    for (const slot of this.#slots.keys()) {
      if (slot <= finalizedSlot) this.#slots.delete(slot);
    }
  }
}

const memberKey = (subcommittee: number, validator: ValidatorIndex) =>
  validator * SYNC_COMMITTEE_SUBNET_COUNT + subcommittee;

/** Who signed which root for a subcommittee and slot ("sync_committee_{subnet_id}", p2p interface). */
export class SeenSyncMessages {
  #slots = new Map<Slot, Map<number, RootHex | undefined>>();

  capture(): Map<Slot, Map<number, RootHex | undefined>> {
    return copyOfMap(this.#slots, (rootOfMember) => new Map(rootOfMember));
  }

  restore(slots: Map<Slot, Map<number, RootHex | undefined>>): void {
    this.#slots = slots;
  }

  has(slot: Slot, subcommittee: number, validator: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.has(memberKey(subcommittee, validator)) ?? false;
  }

  /** The root that the validator was seen to sign, if it was said when the message was added. */
  root(slot: Slot, subcommittee: number, validator: ValidatorIndex): RootHex | undefined {
    return this.#slots.get(slot)?.get(memberKey(subcommittee, validator));
  }

  /** Answers whether this is the first message; a later one does not replace it. */
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

/** Contributions, by who aggregated and by who takes part ("sync_committee_contribution_and_proof"). */
export class SeenContributions {
  #slots = new Map<Slot, ContributionsOfSlot>();

  capture(): Map<Slot, ContributionsOfSlot> {
    return copyOfMap(this.#slots, ({ aggregators, participants }) => ({
      aggregators: new Set(aggregators),
      participants: copyOfMap(participants, (sets) => sets.copy()),
    }));
  }

  restore(slots: Map<Slot, ContributionsOfSlot>): void {
    this.#slots = slots;
  }

  hasAggregator(slot: Slot, subcommittee: number, aggregator: ValidatorIndex): boolean {
    return this.#slots.get(slot)?.aggregators.has(memberKey(subcommittee, aggregator)) ?? false;
  }

  /** Whether a contribution with all of these participants, or more, was seen. */
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

/** Gossip takes messages of the current slot only, give or take the clocks' disparity. */
const SYNC_SLOTS_KEPT = 3;

/** Keeps the current and the previous epoch: gossip accepts attestations of no other. */
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
