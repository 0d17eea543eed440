import type { BeaconConfig } from "@lodestar/config";
import {
  ForkSeq,
  GENESIS_SLOT,
  SLOTS_PER_EPOCH,
  TIMELY_HEAD_FLAG_INDEX,
  TIMELY_SOURCE_FLAG_INDEX,
  TIMELY_TARGET_FLAG_INDEX,
} from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRoot,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import {
  type Attestation,
  type BeaconBlock,
  type Epoch,
  getValidatorStatus,
  isElectraAttestation,
  type phase0,
  type RootHex,
  type SignedBeaconBlock,
  type Slot,
  type ValidatorIndex,
  type ValidatorStatus,
} from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { TimeSlice } from "../../async/time-slice.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import { type CommitteePosition, committeePositions } from "../shuffling/committee-positions.ts";
import { countPayloadVotes, type PayloadVotes } from "./payload-votes.ts";
import { withdrawalsSince } from "./withdrawals.ts";

/** Which parts of a vote were correct. Since Altair, a part counts only if it was included in time. */
export interface VoteParts {
  source: boolean;
  target: boolean;
  head: boolean;
}

/** Performance of a validator during an epoch, on the canonical chain. */
export interface ValidatorReview {
  /** Undefined if the validator had no attestation duty. */
  attestation?: { distance: number | undefined; correct: VoteParts };
  proposed: Slot[];
  missedProposals: Slot[];
  sync: { included: number; missed: number };
  payloadVotes: PayloadVotes;
  /** In Gwei, at the end of the next epoch. */
  balance: number;
  /** In Gwei, withdrawn by blocks after `balancesSince`. */
  withdrawn: number;
  status: ValidatorStatus;
  slashed: boolean;
  exitEpoch: Epoch;
}

/** Sync committee positions by validator. */
export type SyncSeats = ReadonlyMap<ValidatorIndex, readonly number[]>;

interface ReviewParts {
  config: BeaconConfig;
  blocks: Pick<BlockStore, "signedByRoot">;
  payloadStore: Pick<PayloadStore, "get">;
  epoch: Epoch;
  /** State at the end of the next epoch, after which votes can no longer be included. */
  state: CachedBeaconStateAllForks;
  /** Latest block processed by the state. */
  blockRoot: RootHex;
  validators: Iterable<ValidatorIndex>;
  /** Undefined if the sync committee of the epoch is unknown. */
  syncSeats: SyncSeats | undefined;
  /** Slot of the balances used for comparison. */
  balancesSince: Slot;
}

/**
 * Reviews an epoch based on the canonical blocks of that epoch and the next. Reads only the given validators from the
 * state.
 */
export async function reviewEpoch(parts: ReviewParts): Promise<Map<ValidatorIndex, ValidatorReview>> {
  const { state, epoch, validators, syncSeats, balancesSince } = parts;
  const reviews = new Map<ValidatorIndex, ValidatorReview>();
  const slice = new TimeSlice();
  for (const validator of validators) {
    reviews.set(validator, emptyReview(state, validator));
    await slice.yieldIfDue();
  }
  const positions = await committeePositions(state.epochCtx.previousShuffling, reviews.keys());
  // No vote is expected in the genesis slot, because chains often start after it.
  const isDue = ({ slotInEpoch }: CommitteePosition) => computeStartSlotAtEpoch(epoch) + slotInEpoch > GENESIS_SLOT;
  const duties = new Duties(positions.filter(isDue), state);
  for (const { validatorIndex } of duties.all) {
    reviews.get(validatorIndex)!.attestation = { distance: undefined, correct: correctVotes(state, validatorIndex) };
  }
  const proposers = new Map<Slot, ValidatorIndex>();
  let child: BeaconBlock | undefined;
  for await (const { message } of canonicalBlocks(parts)) {
    countVotes(parts, duties, message, reviews);
    if (computeEpochAtSlot(message.slot) === epoch) {
      proposers.set(message.slot, message.proposerIndex);
      countPayloadVotes(message, child, state, reviews);
      if (syncSeats) countSync(message, syncSeats, reviews);
    }
    child = message;
    await slice.yieldIfDue();
  }
  countProposals(parts, proposers, reviews);
  for await (const withdrawals of withdrawalsSince(balancesSince, parts)) {
    for (const { validatorIndex, amount } of withdrawals) {
      const review = reviews.get(validatorIndex);
      if (review) review.withdrawn += Number(amount);
    }
    await slice.yieldIfDue();
  }
  return reviews;
}

function emptyReview(state: CachedBeaconStateAllForks, index: ValidatorIndex): ValidatorReview {
  const validator = state.validators.getReadonly(index);
  return {
    proposed: [],
    missedProposals: [],
    sync: { included: 0, missed: 0 },
    payloadVotes: { included: 0, missed: 0 },
    balance: state.balances.get(index),
    withdrawn: 0,
    status: getValidatorStatus(validator, state.epochCtx.epoch),
    slashed: validator.slashed,
    exitEpoch: validator.exitEpoch,
  };
}

/** Iterates from the newest block back to the first slot of the epoch, excluding the genesis block. */
async function* canonicalBlocks({ blocks, blockRoot, epoch }: ReviewParts): AsyncGenerator<SignedBeaconBlock> {
  const firstSlot = Math.max(computeStartSlotAtEpoch(epoch), GENESIS_SLOT + 1);
  let root = blockRoot;
  for (;;) {
    const signed = await blocks.signedByRoot(root);
    // The genesis block may not be stored.
    if (signed === null || signed.message.slot < firstSlot) return;
    yield signed;
    if (signed.message.slot === firstSlot) return;
    root = toRootHex(signed.message.parentRoot);
  }
}

/** Attestation duties of an epoch by slot and committee. */
class Duties {
  readonly all: readonly CommitteePosition[];
  readonly #byCommittee = new Map<number, CommitteePosition[]>();
  readonly #committees: CachedBeaconStateAllForks["epochCtx"]["previousShuffling"]["committees"];

  constructor(all: readonly CommitteePosition[], { epochCtx }: CachedBeaconStateAllForks) {
    this.all = all;
    this.#committees = epochCtx.previousShuffling.committees;
    for (const duty of all) {
      const key = this.#key(duty.slotInEpoch, duty.committeeIndex);
      const duties = this.#byCommittee.get(key) ?? [];
      this.#byCommittee.set(key, duties);
      duties.push(duty);
    }
  }

  /** Yields the validators whose votes are in an attestation. */
  *votersIn(attestation: Attestation): Generator<ValidatorIndex> {
    const { aggregationBits, data } = attestation;
    const slotInEpoch = data.slot % SLOTS_PER_EPOCH;
    const committees = isElectraAttestation(attestation) ? attestation.committeeBits.getTrueBitIndexes() : [data.index];
    // From Electra on, the bits of several committees are concatenated (EIP-7549).
    let offset = 0;
    for (const committee of committees) {
      for (const { position, validatorIndex } of this.#byCommittee.get(this.#key(slotInEpoch, committee)) ?? []) {
        if (aggregationBits.get(offset + position)) yield validatorIndex;
      }
      offset += this.#committees[slotInEpoch]?.[committee]?.length ?? 0;
    }
  }

  #key(slotInEpoch: number, committee: number): number {
    return committee * SLOTS_PER_EPOCH + slotInEpoch;
  }
}

function countVotes(
  { config, epoch, state }: ReviewParts,
  duties: Duties,
  block: SignedBeaconBlock["message"],
  reviews: ReadonlyMap<ValidatorIndex, ValidatorReview>,
): void {
  const isPhase0 = config.getForkSeq(state.slot) === ForkSeq.phase0;
  for (const attestation of block.body.attestations as Attestation[]) {
    const { data } = attestation;
    if (data.target.epoch !== epoch) continue;
    const distance = block.slot - data.slot;
    for (const voter of duties.votersIn(attestation)) {
      const vote = reviews.get(voter)!.attestation!;
      vote.distance = Math.min(vote.distance ?? distance, distance);
      if (isPhase0) vote.correct = phase0Correct(state, data);
    }
  }
}

/** Reads the participation flags of the previous epoch. Phase0 stores attestations instead. */
function correctVotes(state: CachedBeaconStateAllForks, validator: ValidatorIndex): VoteParts {
  if (state.config.getForkSeq(state.slot) === ForkSeq.phase0) return { source: false, target: false, head: false };
  const flags = (state as CachedBeaconStateAltair).previousEpochParticipation.get(validator);
  const has = (flag: number) => ((flags >> flag) & 1) === 1;
  return {
    source: has(TIMELY_SOURCE_FLAG_INDEX),
    target: has(TIMELY_TARGET_FLAG_INDEX),
    head: has(TIMELY_HEAD_FLAG_INDEX),
  };
}

/** Included votes always have the correct source. */
function phase0Correct(state: CachedBeaconStateAllForks, data: phase0.AttestationData): VoteParts {
  const target = byteArrayEquals(data.target.root, getBlockRoot(state, data.target.epoch));
  const head = target && byteArrayEquals(data.beaconBlockRoot, getBlockRootAtSlot(state, data.slot));
  return { source: true, target, head };
}

function countSync(
  { body }: SignedBeaconBlock["message"],
  seats: SyncSeats,
  reviews: ReadonlyMap<ValidatorIndex, ValidatorReview>,
): void {
  if (!("syncAggregate" in body)) return;
  for (const [validator, positions] of seats) {
    const sync = reviews.get(validator)?.sync;
    if (!sync) continue;
    for (const position of positions)
      sync[body.syncAggregate.syncCommitteeBits.get(position) ? "included" : "missed"]++;
  }
}

/**
 * Counts proposals. A freshly loaded state does not know the previous epoch's proposers; in that case, no proposal
 * counts as missed.
 */
function countProposals(
  { epoch, state }: ReviewParts,
  proposers: ReadonlyMap<Slot, ValidatorIndex>,
  reviews: ReadonlyMap<ValidatorIndex, ValidatorReview>,
): void {
  for (const [slot, proposer] of proposers) reviews.get(proposer)?.proposed.push(slot);
  const firstSlot = computeStartSlotAtEpoch(epoch);
  for (const [slotInEpoch, proposer] of (state.epochCtx.proposersPrevEpoch ?? []).entries()) {
    const slot = firstSlot + slotInEpoch;
    if (slot > GENESIS_SLOT && !proposers.has(slot)) reviews.get(proposer)?.missedProposals.push(slot);
  }
}
