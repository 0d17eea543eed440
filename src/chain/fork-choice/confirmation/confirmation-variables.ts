import type { RootHex } from "@lodestar/types";
import type { Checkpoint, ForkChoiceBlock } from "../types.ts";

/** FastConfirmationStore, without the store of fork choice. */
export interface ConfirmationVariables {
  readonly confirmedRoot: RootHex;
  readonly previousObservedJustified: Checkpoint;
  readonly currentObservedJustified: Checkpoint;
  /** previous_epoch_greatest_unrealized_checkpoint */
  readonly greatestUnrealized: Checkpoint;
  readonly previousSlotHead: ForkChoiceBlock;
  readonly currentSlotHead: ForkChoiceBlock;
  /** Slot of the last update; null before the first. */
  readonly slot: number | null;
}
