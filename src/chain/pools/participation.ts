import type { Node } from "@chainsafe/persistent-merkle-tree";
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

/** Number of combinations of the three participation flags. */
const FLAG_PATTERNS = 8;

/**
 * Participation that is already on chain when a block is built on a state, and the gain from further attestations.
 * Since Altair, flags have weights; phase0 has a single flag with a weight of one.
 */
export interface Participation {
  /** Returns the flags that the attestation would set; 0 if the attestation is late or invalid. */
  flagsFor(data: phase0.AttestationData): number;
  /** Sum over attesters of effective balance times the weight of newly set flags. */
  gain(epoch: Epoch, flags: number, committee: Uint32Array, bits: BitArray): number;
  /** Marks attestations as included. */
  mark(epoch: Epoch, flags: number, committee: Uint32Array, bits: BitArray): void;
}

export function createParticipation(state: CachedBeaconStateAllForks): Participation {
  const fork = state.epochCtx.config.getForkSeq(state.slot);
  const onChain = fork === ForkSeq.phase0 ? phase0Attesters(state as CachedBeaconStatePhase0) : altairFlags(state);
  const { epoch: currentEpoch } = state.epochCtx;
  const current = new FlagsOfEpoch(onChain.current);
  const previous = new FlagsOfEpoch(onChain.previous);
  const flagsOf = (epoch: Epoch) => (epoch === currentEpoch ? current : previous);
  const weights = fork === ForkSeq.phase0 ? [0, 1] : weightOfFlagPatterns();
  const increments = state.epochCtx.effectiveBalanceIncrements;

  return {
    flagsFor: fork === ForkSeq.phase0 ? () => 1 : altairFlagsFor(fork, state),

    gain(epoch, flags, committee, bits) {
      const flagsOfAttesters = flagsOf(epoch);
      let gain = 0;
      forEachAttester(committee, bits, (attester) => {
        const newFlags = flags & ~flagsOfAttesters.get(attester);
        if (newFlags !== 0) gain += (increments[attester] ?? 0) * weights[newFlags]!;
      });
      return gain;
    },

    mark(epoch, flags, committee, bits) {
      const flagsOfAttesters = flagsOf(epoch);
      forEachAttester(committee, bits, (attester) => flagsOfAttesters.add(attester, flags));
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
      // The transition would reject the attestation, for example for a wrong payload (gloas).
      return 0;
    }
  };
}

/** Reads the on-chain flags of all validators for an epoch. Callers must not modify the result. */
type ReadFlags = () => Uint8Array;

/** Flags for an epoch: the on-chain flags, which are read lazily, plus added flags. */
class FlagsOfEpoch {
  readonly #read: ReadFlags;
  #onChain: Uint8Array | undefined;
  #further: Uint8Array | undefined;

  constructor(read: ReadFlags) {
    this.#read = read;
  }

  get(attester: ValidatorIndex): number {
    this.#onChain ??= this.#read();
    return (this.#onChain[attester] ?? 0) | (this.#further?.[attester] ?? 0);
  }

  add(attester: ValidatorIndex, flags: number): void {
    this.#onChain ??= this.#read();
    this.#further ??= new Uint8Array(this.#onChain.length);
    this.#further[attester]! |= flags;
  }
}

/** Cached by tree node: the previous epoch's list rarely changes between blocks. */
const flagsOfLists = new WeakMap<Node, Uint8Array>();

function altairFlags(state: CachedBeaconStateAllForks): { current: ReadFlags; previous: ReadFlags } {
  const flagsOf = (list: CachedBeaconStateAltair["currentEpochParticipation"]) => {
    const cached = flagsOfLists.get(list.node);
    if (cached) return cached;
    const flags = list.serialize();
    flagsOfLists.set(list.node, flags);
    return flags;
  };
  const { currentEpochParticipation, previousEpochParticipation } = state as CachedBeaconStateAltair;
  return { current: () => flagsOf(currentEpochParticipation), previous: () => flagsOf(previousEpochParticipation) };
}

function phase0Attesters(state: CachedBeaconStatePhase0): { current: ReadFlags; previous: ReadFlags } {
  return {
    current: () => attestersIn(state.currentEpochAttestations.getAllReadonlyValues(), state),
    previous: () => attestersIn(state.previousEpochAttestations.getAllReadonlyValues(), state),
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
