import type { gloas, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import { SeenBySlot } from "./seen-by-slot.ts";

// Seen caches of the topics since gloas (gloas/p2p-interface.md, Seen). "Seen" means seen and valid.

/** Slots of which bids, votes and preferences are kept: gossip accepts them for the current slot and later ones only. */
const SLOTS_KEPT = 2;
/** More than the payloads that bids of a slot can be built on. */
const GAS_LIMITS_KEPT = 64;

/** Bids by slot, parent and builder, with the highest value for each parent. */
class SeenBids {
  readonly #ofBuilders = new SeenBySlot<true>();
  readonly #best = new SeenBySlot<number>();

  capture() {
    return { ofBuilders: this.#ofBuilders.capture(), best: this.#best.capture() };
  }

  restore({ ofBuilders, best }: ReturnType<SeenBids["capture"]>): void {
    this.#ofBuilders.restore(ofBuilders);
    this.#best.restore(best);
  }

  has(bid: gloas.ExecutionPayloadBid): boolean {
    return this.#ofBuilders.has(bid.slot, `${parentOf(bid)}/${bid.builderIndex}`);
  }

  /** Returns the highest value of the bids on the same parent. */
  bestValue(bid: gloas.ExecutionPayloadBid): number | undefined {
    return this.#best.get(bid.slot, parentOf(bid));
  }

  add(bid: gloas.ExecutionPayloadBid): void {
    this.#ofBuilders.set(bid.slot, `${parentOf(bid)}/${bid.builderIndex}`, true);
    this.#best.set(bid.slot, parentOf(bid), Math.max(bid.value, this.bestValue(bid) ?? 0));
  }

  pruneBefore(slot: Slot): void {
    this.#ofBuilders.pruneBefore(slot);
    this.#best.pruneBefore(slot);
  }
}

const parentOf = ({ parentBlockHash, parentBlockRoot }: gloas.ExecutionPayloadBid): string =>
  `${toRootHex(parentBlockHash)}/${toRootHex(parentBlockRoot)}`;

/** Preferences of proposers by proposal slot and dependent root. */
class SeenPreferences {
  readonly #seen = new SeenBySlot<gloas.SignedProposerPreferences>();

  capture() {
    return this.#seen.capture();
  }

  restore(seen: ReturnType<SeenPreferences["capture"]>): void {
    this.#seen.restore(seen);
  }

  get(slot: Slot, dependentRoot: RootHex): gloas.SignedProposerPreferences | undefined {
    return this.#seen.get(slot, dependentRoot);
  }

  add(signed: gloas.SignedProposerPreferences): void {
    const { proposalSlot, dependentRoot } = signed.message;
    this.#seen.set(proposalSlot, toRootHex(dependentRoot), signed);
  }

  pruneBefore(slot: Slot): void {
    this.#seen.pruneBefore(slot);
  }
}

/** Column sidecars without a header, by block root and index. One bit per column. */
class SeenColumns {
  readonly #seen = new SeenBySlot<bigint>();

  capture() {
    return this.#seen.capture();
  }

  restore(seen: ReturnType<SeenColumns["capture"]>): void {
    this.#seen.restore(seen);
  }

  has(slot: Slot, root: RootHex, index: number): boolean {
    return (((this.#seen.get(slot, root) ?? 0n) >> BigInt(index)) & 1n) === 1n;
  }

  add(slot: Slot, root: RootHex, index: number): void {
    this.#seen.set(slot, root, (this.#seen.get(slot, root) ?? 0n) | (1n << BigInt(index)));
  }

  pruneBefore(slot: Slot): void {
    this.#seen.pruneBefore(slot);
  }
}

/** Seen caches of the topics since gloas. */
export class SeenPayloads {
  readonly bids = new SeenBids();
  readonly preferences = new SeenPreferences();
  readonly columns = new SeenColumns();
  readonly #envelopes = new SeenBySlot<true>();
  readonly #attesters = new SeenBySlot<true>();
  /** Gas limits of payloads by block hash. */
  readonly #gasLimits = new LruMap<RootHex, bigint>(GAS_LIMITS_KEPT);

  capture() {
    return {
      bids: this.bids.capture(),
      preferences: this.preferences.capture(),
      columns: this.columns.capture(),
      envelopes: this.#envelopes.capture(),
      attesters: this.#attesters.capture(),
    };
  }

  restore({ bids, preferences, columns, envelopes, attesters }: ReturnType<SeenPayloads["capture"]>): void {
    this.bids.restore(bids);
    this.preferences.restore(preferences);
    this.columns.restore(columns);
    this.#envelopes.restore(envelopes);
    this.#attesters.restore(attesters);
  }

  /** True if an envelope of the block was seen from this builder. */
  hasEnvelope({ payload, beaconBlockRoot, builderIndex }: gloas.ExecutionPayloadEnvelope): boolean {
    return this.#envelopes.has(payload.slotNumber, `${toRootHex(beaconBlockRoot)}/${builderIndex}`);
  }

  addEnvelope({ payload, beaconBlockRoot, builderIndex }: gloas.ExecutionPayloadEnvelope): void {
    this.#envelopes.set(payload.slotNumber, `${toRootHex(beaconBlockRoot)}/${builderIndex}`, true);
    this.#gasLimits.set(toRootHex(payload.blockHash), BigInt(payload.gasLimit));
  }

  /** Returns the gas limit of a payload that was seen recently. */
  gasLimitOf(blockHash: RootHex): bigint | undefined {
    return this.#gasLimits.get(blockHash);
  }

  /** True if the member of a payload timeliness committee has voted. */
  hasVoted(slot: Slot, validator: ValidatorIndex): boolean {
    return this.#attesters.has(slot, String(validator));
  }

  addVote(slot: Slot, validator: ValidatorIndex): void {
    this.#attesters.set(slot, String(validator), true);
  }

  pruneBySlot(currentSlot: Slot): void {
    const lowest = currentSlot - SLOTS_KEPT;
    this.bids.pruneBefore(lowest);
    this.preferences.pruneBefore(lowest);
    this.#attesters.pruneBefore(lowest);
  }

  /** Drops what gossip ignores because it is from before the finalized block. */
  pruneByFinality(finalizedSlot: Slot): void {
    this.columns.pruneBefore(finalizedSlot);
    this.#envelopes.pruneBefore(finalizedSlot);
  }
}
