import type { BitArray } from "@chainsafe/ssz";
import { ForkSeq, PARTICIPATION_FLAG_WEIGHTS } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStatePhase0,
  getAttestationParticipationStatus,
  isStatePostAltair,
  isStatePostGloas,
  RootCache,
} from "@lodestar/state-transition";
import type { Epoch, phase0 } from "@lodestar/types";

/** The bit patterns of a participation entry: three flags. */
const FLAG_PATTERNS = 8;

/**
 * Which attestations are already on chain, as seen by a block on top of a state, and what further ones would add. From
 * altair on an attestation sets participation flags, worth their weights; in phase0 it is there or not, which is one flag
 * worth one.
 */
export interface Participation {
  /** What the attestation would set if the block included it; 0 for one that comes too late to count or is refused. */
  flagsFor(data: phase0.AttestationData): number;
  /** The effective balance, times the weight of the flags they would newly set, of the attesters. */
  gain(epoch: Epoch, flags: number, committee: Uint32Array, bits: BitArray): number;
  /** Counts the attestations as being on chain. */
  mark(epoch: Epoch, flags: number, committee: Uint32Array, bits: BitArray): void;
}

export function createParticipation(state: CachedBeaconStateAllForks): Participation {
  const fork = state.epochCtx.config.getForkSeq(state.slot);
  const flagsByEpoch = fork === ForkSeq.phase0 ? phase0Attesters(state as CachedBeaconStatePhase0) : altairFlags(state);
  const weights = fork === ForkSeq.phase0 ? [0, 1] : weightOfFlagPatterns();
  const increments = state.epochCtx.effectiveBalanceIncrements;

  return {
    flagsFor: fork === ForkSeq.phase0 ? () => 1 : altairFlagsFor(fork, state),

    gain(epoch, flags, committee, bits) {
      const onChain = flagsByEpoch(epoch);
      let gain = 0;
      forEachAttester(committee, bits, (attester) => {
        const newFlags = flags & ~(onChain[attester] ?? 0);
        if (newFlags !== 0) gain += (increments[attester] ?? 0) * weights[newFlags]!;
      });
      return gain;
    },

    mark(epoch, flags, committee, bits) {
      const onChain = flagsByEpoch(epoch);
      forEachAttester(committee, bits, (attester) => {
        onChain[attester] = (onChain[attester] ?? 0) | flags;
      });
    },
  };
}

function forEachAttester(committee: Uint32Array, bits: BitArray, visit: (attester: number) => void): void {
  const bytes = bits.uint8Array;
  for (let byteIndex = 0; byteIndex < bytes.length; byteIndex++) {
    const byte = bytes[byteIndex]!;
    for (let bit = 0; byte >> bit !== 0; bit++) {
      if ((byte >> bit) & 1) visit(committee[byteIndex * 8 + bit]!);
    }
  }
}

function weightOfFlagPatterns(): number[] {
  return Array.from({ length: FLAG_PATTERNS }, (_, pattern) =>
    PARTICIPATION_FLAG_WEIGHTS.reduce((sum, weight, flag) => sum + ((pattern >> flag) & 1) * weight, 0),
  );
}

function altairFlagsFor(fork: ForkSeq, state: CachedBeaconStateAllForks): Participation["flagsFor"] {
  const view = new BeaconStateView(state);
  const rootCache = new RootCache(view);
  const payloads = isStatePostGloas(view) && fork >= ForkSeq.gloas ? view.executionPayloadAvailability : null;
  const parentSlot = payloads && isStatePostGloas(view) ? view.latestExecutionPayloadBid.slot : null;
  const { epoch } = state.epochCtx;
  return (data) => {
    try {
      const delay = state.slot - data.slot;
      return getAttestationParticipationStatus(fork, data, delay, epoch, rootCache, payloads, parentSlot).flags;
    } catch {
      // The transition would refuse the attestation, as it does one that names the wrong payload (gloas).
      return 0;
    }
  };
}

/** Read only for the epochs that attestations are found for: each costs a walk over the whole registry. */
function altairFlags(state: CachedBeaconStateAllForks): (epoch: Epoch) => Uint8Array {
  const view = new BeaconStateView(state);
  if (!isStatePostAltair(view)) throw new Error(`A state of the fork ${view.forkName} has no participation flags.`);
  let current: Uint8Array | undefined;
  let previous: Uint8Array | undefined;
  return (epoch) => {
    if (epoch === state.epochCtx.epoch) {
      current ??= view.currentEpochParticipation.slice();
      return current;
    }
    previous ??= view.previousEpochParticipation.slice();
    return previous;
  };
}

function phase0Attesters(state: CachedBeaconStatePhase0): (epoch: Epoch) => Uint8Array {
  const attestersOf = (pending: phase0.PendingAttestation[]) => {
    const attested = new Uint8Array(state.validators.length);
    for (const { data, aggregationBits } of pending) {
      const committee = state.epochCtx.getBeaconCommittee(data.slot, data.index);
      forEachAttester(committee, aggregationBits, (attester) => {
        attested[attester] = 1;
      });
    }
    return attested;
  };
  let current: Uint8Array | undefined;
  let previous: Uint8Array | undefined;
  return (epoch) => {
    if (epoch === state.epochCtx.epoch) {
      current ??= attestersOf(state.currentEpochAttestations.getAllReadonlyValues());
      return current;
    }
    previous ??= attestersOf(state.previousEpochAttestations.getAllReadonlyValues());
    return previous;
  };
}
