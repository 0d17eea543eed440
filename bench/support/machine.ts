import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Describes the machine for the header of a benchmark. */
export function describeMachine(): string {
  return `Node ${process.versions.node}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`;
}

/** CPU ticks since boot, in total and stolen by the hypervisor. */
interface CpuTicks {
  all: number;
  stolen: number;
}

/** The columns of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
const STEAL_COLUMN = 7;

function readCpuTicks(): CpuTicks | undefined {
  try {
    const columns = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/ +/).slice(1, 9).map(Number);
    return { all: columns.reduce((sum, each) => sum + each, 0), stolen: columns[STEAL_COLUMN]! };
  } catch {
    // Only Linux reports this.
    return undefined;
  }
}

/** Returns a function that computes the share of stolen CPU time since this call. Undefined if unknown. */
export function watchSteal(): () => number | undefined {
  const before = readCpuTicks();
  return () => {
    const now = readCpuTicks();
    if (!before || !now || now.all === before.all) return undefined;
    return (now.stolen - before.stolen) / (now.all - before.all);
  };
}
