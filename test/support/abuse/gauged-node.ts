import { fileURLToPath } from "node:url";
import type { ProgramProcess } from "../program/program-process.ts";

export interface GaugeReading {
  /** Longest event loop delay since the last reading, in milliseconds. */
  blockedMillis: number;
  /** Maximum CPU time between two turns, which is comparable on a busy machine. */
  blockedCpuMillis: number;
  /** Total memory, and that of objects and buffers, after garbage collection. */
  residentBytes: number;
  heapBytes: number;
  externalBytes: number;
}

/** Node options for a program with this gauge. */
export const GAUGED = ["--expose-gc", "--import", fileURLToPath(new URL("gauge.ts", import.meta.url))];

export async function readGauge(program: ProgramProcess): Promise<GaugeReading> {
  const from = program.lines.length;
  program.child.kill("SIGUSR1");
  const [, text] = await program.untilLine(/^gauge: (.*)$/, { from });
  return JSON.parse(text!) as GaugeReading;
}
