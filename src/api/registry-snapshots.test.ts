import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { readState } from "../chain/states/read-state.ts";
import { type Chunks, VALIDATORS_PER_CHUNK } from "../json/writers/registry-chunks.ts";
import { balancesAt, validatorsAt } from "./methods/states/registry.ts";
import { RegistrySnapshots } from "./registry-snapshots.ts";

type State = CachedBeaconStateAllForks;

const FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"] as const;
/** Not a multiple of the number of balances in a leaf. */
const COUNT = 2 * VALIDATORS_PER_CHUNK + 7;

const validators: phase0.Validator[] = Array.from({ length: COUNT }, (_, index) => ({
  pubkey: new Uint8Array(48).fill(index & 0xff),
  withdrawalCredentials: new Uint8Array(32).fill(index >> 8),
  effectiveBalance: 32e9 + index,
  slashed: index % 3 === 0,
  activationEligibilityEpoch: index,
  activationEpoch: 2 ** 33 + index,
  exitEpoch: Number.POSITIVE_INFINITY,
  withdrawableEpoch: Number.POSITIVE_INFINITY,
}));
const balances = validators.map((_, index) => 2 ** 35 + index);

function stateOf(fork: (typeof FORKS)[number]): State {
  const { BeaconState } = ssz[fork];
  return BeaconState.toViewDU({ ...BeaconState.defaultValue(), validators, balances } as never) as unknown as State;
}

const bytesOf = (chunks: Chunks) => Buffer.concat(chunks.map((chunk) => new Uint8Array(chunk)));
const isSame = (chunks: Chunks, expected: { serialize(): Uint8Array }) =>
  bytesOf(chunks).equals(Buffer.from(expected.serialize()));
/** Returns, for each chunk, whether the earlier snapshot has it as well. */
const sharedWith = (earlier: Chunks, later: Chunks) => later.map((chunk) => earlier.includes(chunk));

describe.each(FORKS)("a snapshot of the registry of %s", (fork) => {
  const state = stateOf(fork);

  it("has the bytes of the state", async () => {
    const snapshots = new RegistrySnapshots();
    const chunks = await snapshots.validators(state);
    expect(chunks).toHaveLength(3);
    expect(isSame(chunks, state.validators)).toBe(true);
    expect(isSame(await snapshots.balances(state), state.balances)).toBe(true);
    expect(await snapshots.validators(state)).toBe(chunks);
  });

  it("equals the serialization of single validators", async () => {
    const indices = Uint32Array.from(validators.keys());
    expect(isSame(await validatorsAt(state, indices), state.validators)).toBe(true);
    expect(isSame(await balancesAt(state, indices), state.balances)).toBe(true);
  });

  it("includes uncommitted changes", async () => {
    const changed = state.clone();
    changed.balances.set(5000, 1);
    changed.validators.get(3).exitEpoch = 77;
    const snapshots = new RegistrySnapshots();
    const ofValidators = bytesOf(await snapshots.validators(changed));
    expect(ofValidators.readBigUInt64LE(3 * 121 + 105)).toBe(77n);
    expect(bytesOf(await snapshots.balances(changed)).readBigUInt64LE(5000 * 8)).toBe(1n);
  });
});

describe("a snapshot of a later state", () => {
  const state = stateOf("fulu");

  it("shares unchanged chunks", async () => {
    const snapshots = new RegistrySnapshots();
    const [ofValidators, ofBalances] = [await snapshots.validators(state), await snapshots.balances(state)];
    const later = state.clone();
    later.validators.get(5000).slashed = true;
    later.balances.set(1, 7);
    const changedValidators = await snapshots.validators(later);
    const changedBalances = await snapshots.balances(later);
    expect(sharedWith(ofValidators, changedValidators)).toEqual([true, false, true]);
    expect(sharedWith(ofBalances, changedBalances)).toEqual([false, true, true]);
    expect(isSame(changedValidators, later.validators)).toBe(true);
    expect(isSame(changedBalances, later.balances)).toBe(true);
    // Chunks that have been returned never change.
    expect(isSame(ofValidators, state.validators)).toBe(true);
    expect(isSame(ofBalances, state.balances)).toBe(true);
  });

  it("includes added validators", async () => {
    const snapshots = new RegistrySnapshots();
    const before = await snapshots.validators(state);
    const later = state.clone();
    for (let added = 0; added < VALIDATORS_PER_CHUNK; added++) {
      later.validators.push(ssz.phase0.Validator.defaultViewDU());
      later.balances.push(0);
    }
    const after = await snapshots.validators(later);
    expect(sharedWith(before, after)).toEqual([true, true, false, false]);
    expect(isSame(after, later.validators)).toBe(true);
    expect(isSame(await snapshots.balances(later), later.balances)).toBe(true);
  });
});

describe("a snapshot in progress", () => {
  it("is shared by concurrent callers", async () => {
    const snapshots = new RegistrySnapshots();
    const state = stateOf("fulu");
    const [first, second] = await Promise.all([snapshots.validators(state), snapshots.validators(state.clone())]);
    expect(second).toBe(first);
  });

  it("is aborted with its last caller, and created again for a later one", async () => {
    const snapshots = new RegistrySnapshots();
    const state = stateOf("fulu");
    const gone = new Error("gone");
    await expect(snapshots.validators(state, AbortSignal.abort(gone))).rejects.toBe(gone);
    expect(isSame(await snapshots.validators(state), state.validators)).toBe(true);
  });
});

it("reuses the memory of a stored state, except for changed chunks", async () => {
  const { BeaconState } = ssz.fulu;
  const state = (await readState(BeaconState, stateOf("fulu").serialize())) as unknown as State;
  const chunks = await new RegistrySnapshots().validators(state);
  expect(isSame(chunks, state.validators)).toBe(true);
  state.validators.get(VALIDATORS_PER_CHUNK).slashed = true;
  const later = await new RegistrySnapshots().validators(state);
  expect(isSame(later, state.validators)).toBe(true);
  expect(sharedWith(chunks, later)).toEqual([true, false, true]);
});
