import type { KeptState } from "./kept-state.ts";
import type { Program } from "./scale-node.ts";

/** What all subjects are measured with. */
export interface Bench {
  kept: KeptState;
  /** This checkout's, and perhaps that of another one. */
  programs: readonly Program[];
  rounds: number;
  /** Of the live chain. */
  slotSeconds: number;
  /** From when blocks begin to be recorded until the first slot that is looked at; nodes start meanwhile. */
  leadSeconds: number;
  /** Whether a part of the subject is wanted. */
  isWanted: (title: string) => boolean;
}

/** Measures something, and prints a table. */
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
