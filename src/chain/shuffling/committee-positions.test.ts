import type { EpochShuffling } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { committeePositions } from "./committee-positions.ts";

const VALIDATORS = 100;

function genesisEpochContext() {
  const genesisTime = 1_700_000_000;
  const chainConfig = devChainConfig({ forks: [], slotSeconds: 2, genesisTime });
  return createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime }).state.epochCtx;
}

it("returns the positions of the library, in the current and the next epoch", async () => {
  const epochCtx = genesisEpochContext();
  const all = Array.from({ length: VALIDATORS }, (_, index) => index);
  for (const epoch of [0, 1]) {
    const shuffling = epochCtx.getShufflingAtEpoch(epoch);
    // More than one committee per slot, so that their order matters.
    expect(shuffling.committeesPerSlot).toBeGreaterThan(1);
    const assignments = epochCtx.getCommitteeAssignments(epoch, all);
    const positions = await committeePositions(shuffling, all);
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

it("deduplicates validators and skips inactive and unknown ones", async () => {
  const shuffling = genesisEpochContext().getShufflingAtEpoch(0);
  const [first, second, ...others] = shuffling.shuffling;
  const validators = [second!, first!, second!, VALIDATORS, Number.MAX_SAFE_INTEGER];
  const found = async (of: EpochShuffling) =>
    (await committeePositions(of, validators)).map((each) => each.validatorIndex);

  expect(await found(shuffling)).toEqual([first, second]);
  const fewer = Uint32Array.of(second!, ...others);
  const withoutFirst = { ...shuffling, shuffling: fewer, activeIndices: fewer.toSorted(), committees: [[fewer]] };
  expect(await found(withoutFirst)).toEqual([second]);
  const none = new Uint32Array();
  expect(await found({ ...shuffling, shuffling: none, activeIndices: none, committees: [] })).toEqual([]);
});
