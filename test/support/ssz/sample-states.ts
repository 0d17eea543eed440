import { BitArray, type CompositeTypeAny, type TreeViewDU } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";

function validators(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    pubkey: new Uint8Array(48).fill(index),
    withdrawalCredentials: new Uint8Array(32).fill(index + 1),
    effectiveBalance: 32e9,
    slashed: index % 3 === 0,
    activationEligibilityEpoch: index,
    activationEpoch: index + 1,
    exitEpoch: Number.POSITIVE_INFINITY,
    withdrawableEpoch: Number.POSITIVE_INFINITY,
  }));
}

const roots = (count: number) => Array.from({ length: count }, (_, index) => new Uint8Array(32).fill(index));

// Not multiples of a slice or leaf, so that shorter last ones are covered.
function filled<T extends { slot: number }>(state: T): T {
  const count = 1301;
  const common = {
    genesisTime: 1_700_000_000,
    slot: 77,
    historicalRoots: roots(3),
    validators: validators(count),
    balances: Array.from({ length: count }, (_, index) => 32e9 + index),
  };
  return Object.assign(state, common);
}

const checkpoint = { epoch: 1, root: new Uint8Array(32).fill(7) };

interface SampleState {
  fork: string;
  type: CompositeTypeAny;
  value: unknown;
}

/** A state of every fork, with elements in each list that differs between forks. */
export function sampleStates(): SampleState[] {
  const phase0 = filled(ssz.phase0.BeaconState.defaultValue());
  phase0.previousEpochAttestations = Array.from({ length: 130 }, (_, index) => ({
    aggregationBits: BitArray.fromBoolArray([true, false, index % 2 === 0]),
    data: { slot: index, index: 1, beaconBlockRoot: new Uint8Array(32), source: checkpoint, target: checkpoint },
    inclusionDelay: 1,
    proposerIndex: index,
  }));

  const altair = filled(ssz.altair.BeaconState.defaultValue());
  altair.previousEpochParticipation = Array.from({ length: 1301 }, (_, index) => index % 8);
  altair.inactivityScores = Array.from({ length: 1301 }, (_, index) => index);

  const electra = filled(ssz.electra.BeaconState.defaultValue());
  electra.latestExecutionPayloadHeader.extraData = new Uint8Array([1, 2, 3]);
  electra.latestExecutionPayloadHeader.baseFeePerGas = 2n ** 200n;
  electra.historicalSummaries = [{ blockSummaryRoot: new Uint8Array(32), stateSummaryRoot: new Uint8Array(32) }];
  electra.pendingPartialWithdrawals = [{ validatorIndex: 1, amount: 5n, withdrawableEpoch: 9 }];

  const fulu = filled(ssz.fulu.BeaconState.defaultValue());
  fulu.proposerLookahead = fulu.proposerLookahead.map((_, index) => index);

  const gloas = filled(ssz.gloas.BeaconState.defaultValue());
  gloas.previousEpochParticipation = Array.from({ length: 1301 }, (_, index) => index % 8);
  gloas.inactivityScores = Array.from({ length: 1301 }, (_, index) => index * 1000);
  gloas.builders = Array.from({ length: 21 }, (_, index) => ({
    ...ssz.gloas.Builder.defaultValue(),
    executionAddress: new Uint8Array(20).fill(0xab + index),
    balance: index,
  }));
  gloas.ptcWindow = gloas.ptcWindow.map((members, index) => members.map((_, member) => index * 10_000 + member));

  return [
    { fork: "phase0", type: ssz.phase0.BeaconState, value: phase0 },
    { fork: "altair", type: ssz.altair.BeaconState, value: altair },
    { fork: "bellatrix", type: ssz.bellatrix.BeaconState, value: filled(ssz.bellatrix.BeaconState.defaultValue()) },
    { fork: "capella", type: ssz.capella.BeaconState, value: filled(ssz.capella.BeaconState.defaultValue()) },
    { fork: "deneb", type: ssz.deneb.BeaconState, value: filled(ssz.deneb.BeaconState.defaultValue()) },
    { fork: "electra", type: ssz.electra.BeaconState, value: electra },
    { fork: "fulu", type: ssz.fulu.BeaconState, value: fulu },
    { fork: "gloas", type: ssz.gloas.BeaconState, value: gloas },
    { fork: "empty", type: ssz.phase0.BeaconState, value: ssz.phase0.BeaconState.defaultValue() },
  ];
}

export function treeOf(type: CompositeTypeAny, value: unknown) {
  return (type.toViewDU(value) as TreeViewDU<CompositeTypeAny>).node;
}
