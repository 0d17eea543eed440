import { fileURLToPath } from "node:url";
import type { ProgramProcess } from "../program-process.ts";

export interface GaugeReading {
  /** Of the event loop's delay since the last reading, in milliseconds. */
  p99: number;
  max: number;
  /** After a collection. */
  residentBytes: number;
}

/** The options of Node for a program that can be read like this. */
export const GAUGED = ["--expose-gc", "--import", fileURLToPath(new URL("gauge.ts", import.meta.url))];

export async function readGauge(program: ProgramProcess): Promise<GaugeReading> {
  const from = program.lines.length;
  program.child.kill("SIGUSR2");
  const [, text] = await program.untilLine(/^gauge: (.*)$/, { from });
  return JSON.parse(text!) as GaugeReading;
}
