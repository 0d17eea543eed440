import type { EpochShuffling } from "@lodestar/state-transition";
import { expect, test } from "vitest";
import { devChainConfig } from "../dev/chain-config.ts";
import { createDevGenesis } from "../dev/genesis.ts";
import { committeePositions } from "./committee-positions.ts";

const VALIDATORS = 100;

function genesisEpochContext() {
  const genesisTime = 1_700_000_000;
  const chainConfig = devChainConfig({ forks: [], slotSeconds: 2, genesisTime });
  return createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime }).state.epochCtx;
}

test("every validator is found where the library puts it, in this epoch and in the next", async () => {
  const epochCtx = genesisEpochContext();
  const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
  for (const epoch of [0, 1]) {
    const shuffling = epochCtx.getShufflingAtEpoch(epoch);
    // More than one committee a slot, so that their order counts.
    expect(shuffling.committeesPerSlot).toBeGreaterThan(1);
    const assignments = epochCtx.getCommitteeAssignments(epoch, everybody);
    const positions = await committeePositions(shuffling, everybody);
    expect(positions).toHaveLength(VALIDATORS);
    for (const { validatorIndex, ...position } of positions) {
      const duty = assignments.get(validatorIndex)!;
      expect(position).toEqual({
        slotInEpoch: duty.slot % shuffling.committees.length,
        committeeIndex: duty.committeeIndex,
        position: duty.validatorCommitteeIndex,
        committeeLength: duty.committeeLength,
      });
    }
    expect(positions.map(({ validatorIndex }) => validatorIndex)).toEqual(
      shuffling.committees.flat().flatMap((c) => [...c]),
    );
  }
});

test("whoever is asked for twice comes once, and whoever is not active, or is nobody, not at all", async () => {
  const shuffling = genesisEpochContext().getShufflingAtEpoch(0);
  const [first, second, ...others] = shuffling.shuffling;
  const asked = [second!, first!, second!, VALIDATORS, Number.MAX_SAFE_INTEGER];
  const found = async (of: EpochShuffling) => (await committeePositions(of, asked)).map((each) => each.validatorIndex);

  expect(await found(shuffling)).toEqual([first, second]);
  const fewer = Uint32Array.of(second!, ...others);
  const withoutFirst = { ...shuffling, shuffling: fewer, activeIndices: fewer.toSorted(), committees: [[fewer]] };
  expect(await found(withoutFirst)).toEqual([second]);
  const nobody = new Uint32Array();
  expect(await found({ ...shuffling, shuffling: nobody, activeIndices: nobody, committees: [] })).toEqual([]);
});
