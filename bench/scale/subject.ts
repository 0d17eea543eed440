import type { KeptState } from "./kept-state.ts";
import type { Program } from "./scale-node.ts";

/** Context of all subjects. */
export interface Bench {
  kept: KeptState;
  /** This checkout, and optionally another one. */
  programs: readonly Program[];
  rounds: number;
  /** Slot duration of the live chain. */
  slotSeconds: number;
  /** Time before the first measured slot, for recording blocks and starting the node. */
  leadSeconds: number;
  /** True if the part of the subject is selected. */
  isWanted: (title: string) => boolean;
}

/** Runs the measurements and prints a table. */
export type Subject = (bench: Bench) => Promise<void>;
