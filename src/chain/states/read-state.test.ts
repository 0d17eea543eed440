import { ForkName } from "@lodestar/params";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { readState } from "./read-state.ts";

const FAR_FUTURE = Number.POSITIVE_INFINITY;
/** More than a full chunk of each list, with a partly filled last leaf in packed lists. */
const MANY = 4096 * 4 + 3;

function validator(index: number): phase0.Validator {
  return {
    pubkey: new Uint8Array(48).map((_, i) => index * 7 + i),
    withdrawalCredentials: new Uint8Array(32).map((_, i) => (i === 0 ? index % 3 : index + i)),
    effectiveBalance: 32e9 + 1e9 * (index % 5),
    slashed: index % 4 === 1,
    activationEligibilityEpoch: index,
    activationEpoch: index % 3 === 0 ? FAR_FUTURE : index + 2 ** 33,
    exitEpoch: index % 2 === 0 ? FAR_FUTURE : index + 9,
    withdrawableEpoch: FAR_FUTURE,
  };
}

function stateOf(fork: ForkName, validators: number): BeaconStateAllForks {
  const state = ssz[fork].BeaconState.defaultViewDU() as BeaconStateAllForks;
  const fields = ssz[fork].BeaconState.fields;
  const values = Array.from({ length: validators }, (_, index) => validator(index));
  state.slot = 5;
  state.randaoMixes.set(3, new Uint8Array(32).fill(3));
  state.blockRoots.set(7, new Uint8Array(32).fill(7));
  state.historicalRoots.push(new Uint8Array(32).fill(9));
  state.validators = fields.validators.toViewDU(values) as typeof state.validators;
  state.balances = fields.balances.toViewDU(values.map((_, index) => 32e9 + index)) as typeof state.balances;
  if ("currentEpochParticipation" in fields) {
    const participation = fields.currentEpochParticipation.toViewDU(values.map((_, index) => index % 8));
    Object.assign(state, { currentEpochParticipation: participation });
  }
  state.commit();
  return state;
}

const FORKS = Object.values(ForkName).filter((fork) => fork !== ForkName.heze);

it.each([...FORKS.map((fork) => [fork, 5] as const), [ForkName.fulu, 0], [ForkName.fulu, MANY]] as const)(
  "a %s state of %i validators is the one that the library reads",
  async (fork, validators) => {
    const written = stateOf(fork, validators);
    const type = ssz[fork].BeaconState;
    const bytes = written.serialize();
    const progress: number[] = [];
    const state = await readState(type, new Uint8Array(bytes), (done, total) => progress.push(done / total));

    expect(state.hashTreeRoot()).toEqual(written.hashTreeRoot());
    expect(Buffer.compare(state.serialize(), bytes)).toBe(0);
    for (let index = 0; index < validators; index += 1 + (index >> 3)) {
      expect(ssz.phase0.Validator.toJson(state.validators.getReadonly(index).toValue())).toEqual(
        ssz.phase0.Validator.toJson(validator(index)),
      );
    }
    // List lengths are not part of any field.
    if (fork !== ForkName.gloas) expect(progress.at(-1)).toBeGreaterThan(0.98);
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress);
  },
);

it("changes to a deserialized state change its root as usual", async () => {
  const [read, library] = [
    await readState(ssz.fulu.BeaconState, stateOf(ForkName.fulu, 20).serialize()),
    stateOf(ForkName.fulu, 20),
  ];
  for (const state of [read, library]) {
    state.validators.get(3).exitEpoch = 77;
    state.validators.get(4).withdrawalCredentials = new Uint8Array(32).fill(9);
    state.validators.push(ssz.phase0.Validator.toViewDU(validator(20)));
    state.balances.set(5, 1);
    state.commit();
  }
  expect(read.hashTreeRoot()).toEqual(library.hashTreeRoot());
  expect(read.validators.getReadonly(3).pubkey).toEqual(validator(3).pubkey);
});

it("a proof passes through a packed validator", async () => {
  const state = await readState(ssz.fulu.BeaconState, stateOf(ForkName.fulu, 3).serialize());
  const { node } = state.validators.get(1);
  expect(node.left.left.right.root).toEqual(validator(1).withdrawalCredentials);
});

it("rejects invalid bytes", async () => {
  const { BeaconState } = ssz.fulu;
  const bytes = stateOf(ForkName.fulu, 2).serialize();
  const ranges = BeaconState.getFieldRanges(
    new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    0,
    bytes.length,
  );
  const registry = ranges[Object.keys(BeaconState.fields).indexOf("validators")]!;
  const damaged = new Uint8Array(bytes);
  damaged[registry.start + 88] = 2;
  await expect(readState(BeaconState, damaged)).rejects.toThrow("invalid boolean in the slashed field");
  await expect(readState(BeaconState, bytes.slice(0, 1000))).rejects.toThrow();

  // One extra byte in the registry shifts everything after it.
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes.subarray(0, registry.end));
  longer.set(bytes.subarray(registry.end), registry.end + 1);
  const offsets = new DataView(longer.buffer);
  for (let at = 0; at < registry.start; at++) {
    if (ranges.some(({ start }) => start >= registry.end && start === offsets.getUint32(at, true))) {
      offsets.setUint32(at, offsets.getUint32(at, true) + 1, true);
      at += 3;
    }
  }
  await expect(readState(BeaconState, longer)).rejects.toThrow("invalid length 243");
});
