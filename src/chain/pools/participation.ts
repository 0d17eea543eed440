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
  const current = new FlagsOfEpoch(onChain.current);
  const previous = new FlagsOfEpoch(onChain.previous);
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

/** The flags of all validators for an epoch, as they are on chain; must not be changed. */
type ReadFlags = () => Uint8Array;

/** The flags of an epoch's attesters: those on chain, which are read once they are asked for, and further ones. */
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

/** Lists that are the same node of a tree have the same flags: those of the previous epoch change little from block to block. */
const flagsOfLists = new WeakMap<Node, Uint8Array>();

function altairFlags(state: CachedBeaconStateAllForks): { current: ReadFlags; previous: ReadFlags } {
  const flagsOf = (list: CachedBeaconStateAltair["currentEpochParticipation"]) => {
    const known = flagsOfLists.get(list.node);
    if (known) return known;
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
