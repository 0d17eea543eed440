import { BitArray } from "@chainsafe/ssz";
import {
  ForkSeq,
  isForkPostElectra,
  MAX_ATTESTATIONS,
  MAX_ATTESTATIONS_ELECTRA,
  MAX_COMMITTEES_PER_SLOT,
  MIN_ATTESTATION_INCLUSION_DELAY,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeEpochAtSlot } from "@lodestar/state-transition";
import { type Attestation, type Epoch, type electra, type phase0, type Slot, ssz } from "@lodestar/types";
import type { Covering } from "./aggregate-set.ts";
import type { AttestationGroup, AttestationPool } from "./attestation-pool.ts";
import { type CoverSource, maxCover } from "./max-cover.ts";
import { createParticipation, type Participation } from "./participation.ts";
import { sumBytes } from "./pooled-signature.ts";

/** Aggregate from one committee, selected for inclusion. */
interface ChosenAggregate {
  group: AttestationGroup;
  covering: Covering;
}

/** Parts of an attestation. Since Electra, one attestation can cover several committees with the same data. */
type AttestationParts = ChosenAggregate[];

/**
 * Packs the attestations for a block on `state`, which must be at the block's slot. Greedily picks the attestations
 * that add the largest participation reward.
 */
export function packAttestations(pool: AttestationPool, state: CachedBeaconStateAllForks): Attestation[] {
  const fork = state.epochCtx.config.getForkSeq(state.slot);
  const joinsCommittees = fork >= ForkSeq.electra;
  const participation = createParticipation(state);
  const sources: CoverSource<AttestationParts>[] = [];
  for (const slot of pool.slots()) {
    if (!isIncludableAt(slot, state.slot, fork)) continue;
    for (const sameData of pool.groupsAt(slot)) {
      const data = sameData[0]?.data;
      if (!data || !isIncludableData(data, state, fork)) continue;
      const groups = sameData.filter(
        (group) => isForkPostElectra(group.fork) === joinsCommittees && hasCommitteeOf(state, group),
      );
      if (groups.length > 0) sources.push(createSource(groups, participation));
    }
  }
  const limit = joinsCommittees ? MAX_ATTESTATIONS_ELECTRA : MAX_ATTESTATIONS;
  return maxCover(sources, limit).map(joinsCommittees ? toElectraAttestation : toPhase0Attestation);
}

/**
 * Combines the best aggregates of all committees with the same data. The committees of a slot are disjoint, so the best
 * aggregates together form the best attestation.
 */
function createSource(groups: AttestationGroup[], participation: Participation): CoverSource<AttestationParts> {
  const { data } = groups[0]!;
  const epoch: Epoch = data.target.epoch;
  const flags = participation.flagsFor(data);
  const candidates = groups.map((group) => ({
    group,
    // Largest first, with the last computed gain as an upper bound.
    coverings: group.aggregates.coverings().map((covering) => ({ covering, gain: Number.POSITIVE_INFINITY })),
  }));
  return {
    evaluate() {
      let gain = 0;
      const choice: AttestationParts = [];
      for (const { group, coverings } of candidates) {
        let best: { covering: Covering; gain: number } | undefined;
        for (const candidate of coverings) {
          if (candidate.gain <= (best?.gain ?? 0)) continue;
          candidate.gain = participation.gain(epoch, flags, group.committee, candidate.covering.bits);
          if (candidate.gain > (best?.gain ?? 0)) best = candidate;
        }
        if (!best) continue;
        gain += best.gain;
        choice.push({ group, covering: best.covering });
      }
      return choice.length === 0 ? null : { gain, choice };
    },
    take(choice) {
      for (const { group, covering } of choice) participation.mark(epoch, flags, group.committee, covering.bits);
    },
  };
}

/** Inclusion window from `process_attestation`; Deneb removed the upper bound in slots (EIP-7045). */
function isIncludableAt(slot: Slot, blockSlot: Slot, fork: ForkSeq): boolean {
  if (slot + MIN_ATTESTATION_INCLUSION_DELAY > blockSlot) return false;
  return fork >= ForkSeq.deneb || blockSlot <= slot + SLOTS_PER_EPOCH;
}

/** Checks from `process_attestation` that do not depend on the committee. */
function isIncludableData(data: phase0.AttestationData, state: CachedBeaconStateAllForks, fork: ForkSeq): boolean {
  const currentEpoch = state.epochCtx.epoch;
  const { epoch } = data.target;
  // electra/beacon-chain.md, "Modified process_attestation": committee bits replace the index.
  if (fork >= ForkSeq.electra && fork < ForkSeq.gloas && data.index !== 0) return false;
  if (epoch !== computeEpochAtSlot(data.slot)) return false;
  if (epoch !== currentEpoch && epoch !== currentEpoch - 1) return false;
  const justified = epoch === currentEpoch ? state.currentJustifiedCheckpoint : state.previousJustifiedCheckpoint;
  return ssz.phase0.Checkpoint.equals(data.source, justified);
}

/** Returns false if the committee differs, which is possible if the attestation was made on another branch. */
function hasCommitteeOf(state: CachedBeaconStateAllForks, { data, committeeIndex, committee }: AttestationGroup) {
  const shuffling = state.epochCtx.getShufflingAtSlotOrNull(data.slot);
  const expected = shuffling?.committees[data.slot % SLOTS_PER_EPOCH]?.[committeeIndex];
  if (!expected) return false;
  return (
    expected === committee ||
    (expected.length === committee.length && expected.every((member, position) => member === committee[position]))
  );
}

function toPhase0Attestation(choice: AttestationParts): phase0.Attestation {
  const { group, covering } = choice[0]!;
  return { aggregationBits: covering.bits, data: group.data, signature: sumBytes(covering.signatures) };
}

function toElectraAttestation(choice: AttestationParts): electra.Attestation {
  const attesters = choice.reduce((sum, { group }) => sum + group.committee.length, 0);
  const aggregationBits = BitArray.fromBitLen(attesters);
  const committeeBits = BitArray.fromBitLen(MAX_COMMITTEES_PER_SLOT);
  let offset = 0;
  for (const { group, covering } of choice) {
    committeeBits.set(group.committeeIndex, true);
    for (const position of covering.bits.getTrueBitIndexes()) aggregationBits.set(offset + position, true);
    offset += group.committee.length;
  }
  const signature = sumBytes(choice.flatMap(({ covering }) => covering.signatures));
  return { aggregationBits, data: choice[0]!.group.data, signature, committeeBits };
}
