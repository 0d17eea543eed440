import type { EpochShuffling } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { TimeSlice } from "../async/time-slice.ts";

/** Where a validator attests in the epoch of a shuffling. */
export interface CommitteePosition {
  validatorIndex: ValidatorIndex;
  slotInEpoch: number;
  committeeIndex: number;
  position: number;
  committeeLength: number;
}

const NOWHERE = 0xffffffff;

/** What is done before it is asked whether others have to have a turn. */
const AT_ONCE = 16_384;

/** Built once for each shuffling, which is shared by all states of an epoch. */
const tables = new WeakMap<EpochShuffling, Promise<Uint32Array>>();

/** Where these validators attest, by slot, committee and position; who is not active then is left out. */
export async function committeePositions(
  shuffling: EpochShuffling,
  validators: Iterable<ValidatorIndex>,
): Promise<CommitteePosition[]> {
  const table = await tableOf(shuffling);
  // A mark for each place in the shuffling puts them in order and leaves out what comes twice.
  const marks = new Uint8Array(shuffling.shuffling.length);
  for (const validator of validators) {
    const place = table[validator] ?? NOWHERE;
    if (place !== NOWHERE) marks[place] = 1;
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
  const known = tables.get(shuffling);
  if (known) return known;
  const table = buildTable(shuffling);
  tables.set(shuffling, table);
  return table;
}

/** For each validator its place in the shuffling, of which committees are parts that follow each other. */
async function buildTable({ shuffling, activeIndices }: EpochShuffling): Promise<Uint32Array> {
  const table = new Uint32Array((activeIndices.at(-1) ?? -1) + 1).fill(NOWHERE);
  const slice = new TimeSlice();
  for (let start = 0; start < shuffling.length; start += AT_ONCE) {
    const end = Math.min(start + AT_ONCE, shuffling.length);
    for (let place = start; place < end; place++) table[shuffling[place]!] = place;
    await slice.yieldIfDue();
  }
  return table;
}
