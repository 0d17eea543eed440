import { fileURLToPath } from "node:url";
import type { ProgramProcess } from "../program/program-process.ts";

export interface GaugeReading {
  /** The longest that the event loop was held up since the last reading, in milliseconds. */
  heldUp: number;
  /** The most processor time between two turns, which says the same on a machine that is busy with other things. */
  heldUpProcessor: number;
  /** All memory, and what of it objects and buffers take, after a collection. */
  residentBytes: number;
  heapBytes: number;
  externalBytes: number;
}

/** The options of Node for a program that can be read like this. */
export const GAUGED = ["--expose-gc", "--import", fileURLToPath(new URL("gauge.ts", import.meta.url))];

export async function readGauge(program: ProgramProcess): Promise<GaugeReading> {
  const from = program.lines.length;
  program.child.kill("SIGUSR1");
  const [, text] = await program.untilLine(/^gauge: (.*)$/, { from });
  return JSON.parse(text!) as GaugeReading;
}
