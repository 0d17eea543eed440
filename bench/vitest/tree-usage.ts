import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** Use of a process and all processes below it. */
export interface TreeUsage {
  wallMs: number;
  cpuMs: number;
  /** Largest sum of the proportional memory, which counts shared pages once. */
  peakBytes: number;
}

interface ProcessEntry {
  pid: number;
  parent: number;
  cpuTicks: number;
}

/** USER_HZ (proc(5)): 100 on all platforms of Node. */
const MS_PER_TICK = 10;
const POLL_MS = 50;

/** Runs a program to its end. Rejects unless it succeeds. */
export async function runTree(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<TreeUsage> {
  const began = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  // Processes that have ended keep the value of their last poll.
  const ticks = new Map<number, number>();
  let peakBytes = 0;
  const poll = setInterval(() => {
    const tree = processesBelow(child.pid!);
    for (const { pid, cpuTicks } of tree) ticks.set(pid, cpuTicks);
    const bytes = tree.reduce((sum, { pid }) => sum + proportionalBytes(pid), 0);
    peakBytes = Math.max(peakBytes, bytes);
  }, POLL_MS);
  const [code] = await once(child, "exit");
  clearInterval(poll);
  if (code !== 0) throw new Error(`${args.join(" ")} failed:\n${output}`);
  const cpuMs = [...ticks.values()].reduce((sum, each) => sum + each, 0) * MS_PER_TICK;
  return { wallMs: performance.now() - began, cpuMs, peakBytes };
}

function processesBelow(root: number): ProcessEntry[] {
  const entries = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readEntry(Number(name)))
    .filter((entry) => entry !== undefined);
  const tree = entries.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...entries.filter(({ parent }) => parent === pid));
  return tree;
}

/** Returns undefined for a process that has ended. */
function readEntry(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in parentheses and may contain spaces. ppid, utime and stime are 4, 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(fields[1]), cpuTicks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}

function proportionalBytes(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
