import type { ValidatorIndex } from "@lodestar/types";

/** Either a share from 0 to 1, spread evenly over the indices, or index ranges. */
export type ValidatorSelection = { share: number } | { ranges: readonly IndexRange[] };

/** A range that includes both ends. */
export interface IndexRange {
  first: ValidatorIndex;
  last: ValidatorIndex;
}
