import { readFileSync } from "node:fs";

export interface ProcessUsage {
  /** Processor time since the process began, in user and kernel mode. */
  cpuSeconds: number;
  residentBytes: number;
  /** The most that was ever resident. */
  peakBytes: number;
}

/** In which Linux counts processor time for programs, on every machine that Node runs on (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

/** What the operating system has noted of a running process. */
export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in parentheses, which may itself hold spaces; utime and stime are fields 14 and 15.
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
