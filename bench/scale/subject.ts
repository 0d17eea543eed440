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

export function printHeader(...columns: readonly string[]): void {
  printRow(...columns);
  printRow(...columns.map((_, position) => (position === 0 ? "---" : "---:")));
}

export function printRow(...cells: readonly string[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

export const milliseconds = (millis: number) => (millis < 10 ? `${millis.toFixed(1)} ms` : `${millis.toFixed(0)} ms`);
export const seconds = (millis: number) => (millis < 1000 ? milliseconds(millis) : `${(millis / 1000).toFixed(2)} s`);
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
