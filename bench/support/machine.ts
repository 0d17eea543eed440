import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** What a reader must know of the machine to judge the figures. */
export function describeMachine(): string {
  return `Node ${process.versions.node}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`;
}

/** Of all processor time that the machine should have had since the start, what its host gave to others. */
interface Processors {
  all: number;
  withheld: number;
}

/** The columns of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
const WITHHELD_COLUMN = 7;

function readProcessors(): Processors | undefined {
  try {
    const columns = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/ +/).slice(1, 9).map(Number);
    return { all: columns.reduce((sum, each) => sum + each, 0), withheld: columns[WITHHELD_COLUMN]! };
  } catch {
    // Only Linux tells.
    return undefined;
  }
}

/**
 * The returned function tells which share of the processor time the host of a virtual machine gave to others meanwhile;
 * undefined where nobody knows.
 */
export function watchWithheld(): () => number | undefined {
  const before = readProcessors();
  return () => {
    const now = readProcessors();
    if (!before || !now || now.all === before.all) return undefined;
    return (now.withheld - before.withheld) / (now.all - before.all);
  };
}
