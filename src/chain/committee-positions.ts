import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { EpochShuffling } from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";

interface CommitteePosition {
  slot: Slot;
  committeeIndex: number;
  position: number;
  committeeLength: number;
}

const NONE = 0xffffffff;

/** Built once for each shuffling, in one pass over the validators; shufflings are shared by all states of an epoch. */
const tables = new WeakMap<EpochShuffling, Uint32Array>();

/** Where a validator attests in the shuffling's epoch; null for one that is not active then. */
export function committeePosition(shuffling: EpochShuffling, validator: ValidatorIndex): CommitteePosition | null {
  const place = tableOf(shuffling)[validator] ?? NONE;
  if (place === NONE) return null;
  const slotInEpoch = Math.floor(place / shuffling.committeesPerSlot);
  const committeeIndex = place % shuffling.committeesPerSlot;
  const committee = shuffling.committees[slotInEpoch]?.[committeeIndex];
  if (!committee) return null;
  return {
    slot: shuffling.epoch * SLOTS_PER_EPOCH + slotInEpoch,
    committeeIndex,
    position: committee.indexOf(validator),
    committeeLength: committee.length,
  };
}

/** For each validator the number of its committee, counted through the epoch. */
function tableOf(shuffling: EpochShuffling): Uint32Array {
  const known = tables.get(shuffling);
  if (known) return known;
  const highest = shuffling.activeIndices.reduce((max, index) => Math.max(max, index), -1);
  const table = new Uint32Array(highest + 1).fill(NONE);
  shuffling.committees.forEach((committees, slotInEpoch) => {
    committees.forEach((committee, committeeIndex) => {
      const place = slotInEpoch * shuffling.committeesPerSlot + committeeIndex;
      for (const validator of committee) table[validator] = place;
    });
  });
  tables.set(shuffling, table);
  return table;
}
