import type { BitArray } from "@chainsafe/ssz";
import { ForkSeq, PARTICIPATION_FLAG_WEIGHTS } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  type CachedBeaconStatePhase0,
  getAttestationParticipationStatus,
  isStatePostGloas,
  RootCache,
} from "@lodestar/state-transition";
import type { Epoch, phase0, ValidatorIndex } from "@lodestar/types";
import { denseCaches } from "../states/dense-caches.ts";

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
  const onChain = fork === ForkSeq.phase0 ? phase0Attesters(state as CachedBeaconStatePhase0) : altairFlags(state);
  const { epoch: currentEpoch } = state.epochCtx;
  const current = new FlagsOfEpoch(onChain.current, state.validators.length);
  const previous = new FlagsOfEpoch(onChain.previous, state.validators.length);
  const flagsOf = (epoch: Epoch) => (epoch === currentEpoch ? current : previous);
  const weights = fork === ForkSeq.phase0 ? [0, 1] : weightOfFlagPatterns();
  const increments = state.epochCtx.effectiveBalanceIncrements;

  return {
    flagsFor: fork === ForkSeq.phase0 ? () => 1 : altairFlagsFor(fork, state),

    gain(epoch, flags, committee, bits) {
      const known = flagsOf(epoch);
      let gain = 0;
      forEachAttester(committee, bits, (attester) => {
        const newFlags = flags & ~known.get(attester);
        if (newFlags !== 0) gain += (increments[attester] ?? 0) * weights[newFlags]!;
      });
      return gain;
    },

    mark(epoch, flags, committee, bits) {
      const known = flagsOf(epoch);
      forEachAttester(committee, bits, (attester) => known.add(attester, flags));
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

/** The flags of an epoch's attesters, as they are on chain. */
type ReadFlags = (attester: ValidatorIndex) => number;

/** The flags of an epoch's attesters: those on chain, each of which is read when it is asked for, and further ones. */
class FlagsOfEpoch {
  readonly #onChain: ReadFlags;
  readonly #validators: number;
  #further: Uint8Array | undefined;

  constructor(onChain: ReadFlags, validators: number) {
    this.#onChain = onChain;
    this.#validators = validators;
  }

  get(attester: ValidatorIndex): number {
    return this.#onChain(attester) | (this.#further?.[attester] ?? 0);
  }

  add(attester: ValidatorIndex, flags: number): void {
    this.#further ??= new Uint8Array(this.#validators);
    this.#further[attester]! |= flags;
  }
}

function altairFlags(state: CachedBeaconStateAllForks): { current: ReadFlags; previous: ReadFlags } {
  denseCaches(state);
  const { currentEpochParticipation, previousEpochParticipation } = state as CachedBeaconStateAltair;
  return {
    current: (attester) => currentEpochParticipation.get(attester),
    previous: (attester) => previousEpochParticipation.get(attester),
  };
}

function phase0Attesters(state: CachedBeaconStatePhase0): { current: ReadFlags; previous: ReadFlags } {
  const attestersOf = (list: CachedBeaconStatePhase0["currentEpochAttestations"]): ReadFlags => {
    let attested: Uint8Array | undefined;
    return (attester) => {
      attested ??= attestersIn(list.getAllReadonlyValues(), state);
      return attested[attester] ?? 0;
    };
  };
  return {
    current: attestersOf(state.currentEpochAttestations),
    previous: attestersOf(state.previousEpochAttestations),
  };
}

function attestersIn(pending: phase0.PendingAttestation[], state: CachedBeaconStatePhase0): Uint8Array {
  const attested = new Uint8Array(state.validators.length);
  for (const { data, aggregationBits } of pending) {
    const committee = state.epochCtx.getBeaconCommittee(data.slot, data.index);
    forEachAttester(committee, aggregationBits, (attester) => {
      attested[attester] = 1;
    });
  }
  return attested;
}
