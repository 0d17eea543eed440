import type { EpochShuffling } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../../async/time-slice.ts";

/** A validator's attestation duty in the epoch of a shuffling. */
export interface CommitteePosition {
  validatorIndex: ValidatorIndex;
  slotInEpoch: number;
  committeeIndex: number;
  position: number;
  committeeLength: number;
}

const NOT_ACTIVE = 0xffffffff;

/** Number of iterations between checks of the time slice. */
const CHUNK = 16_384;

/** Cached per shuffling, which all states of an epoch share. */
const tables = new WeakMap<EpochShuffling, Promise<Uint32Array>>();

/**
 * Returns the committee positions of validators, ordered by slot, committee and position. Skips inactive validators.
 */
export async function committeePositions(
  shuffling: EpochShuffling,
  validators: Iterable<ValidatorIndex>,
): Promise<CommitteePosition[]> {
  const table = await tableOf(shuffling);
  // Marking positions in the shuffling sorts and deduplicates them.
  const marks = new Uint8Array(shuffling.shuffling.length);
  for (const validator of validators) {
    const position = table[validator] ?? NOT_ACTIVE;
    if (position !== NOT_ACTIVE) marks[position] = 1;
  }
  const positions: CommitteePosition[] = [];
  const slice = new TimeSlice();
  let start = 0;
  let next = marks.indexOf(1);
  for (const [slotInEpoch, committees] of shuffling.committees.entries()) {
    for (const [committeeIndex, { length: committeeLength }] of committees.entries()) {
      const end = start + committeeLength;
      for (; next >= 0 && next < end; next = marks.indexOf(1, next + 1)) {
        const validatorIndex = shuffling.shuffling[next]!;
        positions.push({ validatorIndex, slotInEpoch, committeeIndex, position: next - start, committeeLength });
      }
      start = end;
    }
    await slice.yieldIfDue();
  }
  return positions;
}

function tableOf(shuffling: EpochShuffling): Promise<Uint32Array> {
  const cached = tables.get(shuffling);
  if (cached) return cached;
  const table = buildTable(shuffling);
  tables.set(shuffling, table);
  return table;
}

/** Maps each validator to its position in the shuffling. Committees are consecutive slices of the shuffling. */
async function buildTable({ shuffling, activeIndices }: EpochShuffling): Promise<Uint32Array> {
  const table = new Uint32Array((activeIndices.at(-1) ?? -1) + 1).fill(NOT_ACTIVE);
  const slice = new TimeSlice();
  for (let start = 0; start < shuffling.length; start += CHUNK) {
    const end = Math.min(start + CHUNK, shuffling.length);
    for (let position = start; position < end; position++) table[shuffling[position]!] = position;
    await slice.yieldIfDue();
  }
  return table;
}
