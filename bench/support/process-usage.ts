import { readFileSync } from "node:fs";

export interface ProcessUsage {
  /** User and system CPU time since the start of the process. */
  cpuSeconds: number;
  residentBytes: number;
  /** Peak resident memory. */
  peakBytes: number;
}

/** USER_HZ (proc(5)): 100 on all platforms of Node. */
const TICKS_PER_SECOND = 100;

/** Reads CPU time and memory of a running process from /proc. */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in parentheses and may contain spaces. utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    residentBytes: kibibytes(status, "VmRSS") * 1024,
    peakBytes: kibibytes(status, "VmHWM") * 1024,
  };
}

function kibibytes(status: string, name: string): number {
  return Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"))?.[1]);
}
