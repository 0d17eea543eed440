/** COMMITTEE_WEIGHT_ESTIMATION_ADJUSTMENT_FACTOR, per mille. */
const ADJUSTMENT_PER_MILLE = 5n;

/** Slots from `start` to `end`, including both. Empty if the end precedes the start. */
export interface SlotRange {
  readonly start: number;
  readonly end: number;
}

/** is_full_validator_set_covered: true if the range includes an entire epoch. */
function coversEpoch({ start, end }: SlotRange, slotsPerEpoch: number): boolean {
  return Math.ceil(start / slotsPerEpoch) < Math.floor((end + 1) / slotsPerEpoch);
}

/** adjust_committee_weight_estimate_to_ensure_safety */
function adjusted(estimate: bigint): bigint {
  return ((estimate + 999n) / 1000n) * (1000n + ADJUSTMENT_PER_MILLE);
}

/** estimate_committee_weight_between_slots, in Gwei. */
export function estimateCommitteeWeight(totalActiveBalance: bigint, range: SlotRange, slotsPerEpoch: number): bigint {
  const { start, end } = range;
  if (start > end) return 0n;
  if (coversEpoch(range, slotsPerEpoch)) return totalActiveBalance;
  const weightPerSlot = totalActiveBalance / BigInt(slotsPerEpoch);
  const isWithinEpoch = Math.floor(start / slotsPerEpoch) === Math.floor(end / slotsPerEpoch);
  if (isWithinEpoch) return weightPerSlot * BigInt(end - start + 1);
  const slotsInEndEpoch = (end % slotsPerEpoch) + 1;
  const slotsInStartEpoch = slotsPerEpoch - (start % slotsPerEpoch);
  const startEpochWeight = weightPerSlot * BigInt(slotsInStartEpoch);
  // Some members of the start epoch's committees are members of those of the end epoch too.
  const proRated = (startEpochWeight / BigInt(slotsPerEpoch)) * BigInt(slotsPerEpoch - slotsInEndEpoch);
  return adjusted(proRated + weightPerSlot * BigInt(slotsInEndEpoch));
}
