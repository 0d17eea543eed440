import { expect, test } from "vitest";
import { devChainConfig } from "../dev/chain-config.ts";
import { createDevGenesis } from "../dev/genesis.ts";
import { committeePosition } from "./committee-positions.ts";

const VALIDATORS = 100;

function genesisEpochContext() {
  const genesisTime = 1_700_000_000;
  const chainConfig = devChainConfig({ forks: [], slotSeconds: 2, genesisTime });
  return createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime }).state.epochCtx;
}

test("every validator is found where the library puts it, in this epoch and in the next", () => {
  const epochCtx = genesisEpochContext();
  const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
  for (const epoch of [0, 1]) {
    const shuffling = epochCtx.getShufflingAtEpoch(epoch);
    // More than one committee a slot, so that their order counts.
    expect(shuffling.committeesPerSlot).toBeGreaterThan(1);
    const assignments = epochCtx.getCommitteeAssignments(epoch, everybody);
    expect(assignments.size).toBe(VALIDATORS);
    for (const [index, duty] of assignments) {
      expect(committeePosition(shuffling, index)).toEqual({
        slot: duty.slot,
        committeeIndex: duty.committeeIndex,
        position: duty.validatorCommitteeIndex,
        committeeLength: duty.committeeLength,
      });
    }
  }
});

test("whoever is not active, or is nobody, has no place", () => {
  const shuffling = genesisEpochContext().getShufflingAtEpoch(0);
  const idle = shuffling.committees[0]![0]![0]!;
  const committees = shuffling.committees.map((slot) => slot.map((members) => members.filter((i) => i !== idle)));
  const withoutIdle = { ...shuffling, committees, activeIndices: shuffling.activeIndices.filter((i) => i !== idle) };

  expect(committeePosition(withoutIdle, idle)).toBeNull();
  expect(committeePosition(shuffling, idle)).not.toBeNull();
  expect(committeePosition(shuffling, VALIDATORS)).toBeNull();
  expect(committeePosition(shuffling, Number.MAX_SAFE_INTEGER)).toBeNull();
  expect(committeePosition({ ...shuffling, committees: [], activeIndices: new Uint32Array() }, 0)).toBeNull();
});
