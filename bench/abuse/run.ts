import { setTimeout as delay } from "node:timers/promises";
import { ATTACKS } from "../../test/support/abuse/attacks.ts";
import { GAUGED, type GaugeReading, readGauge } from "../../test/support/abuse/gauged-node.ts";
import { Attacker, type ProbeFigures, probe, targetOf } from "../../test/support/abuse/siege.ts";
import { ProgramProcess } from "../../test/support/program/program-process.ts";
import { watchSteal } from "../support/machine.ts";
import { quantile } from "../support/statistics.ts";
import { mebibytes, milliseconds, percent, printHeader, printRow, printSetting } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

interface AbuseOptions {
  validators: number;
  /** Duration of each attack. */
  seconds: number;
  /** Selects attacks whose names contain this. */
  only: string;
}

/** With the minimal preset, more validators would make unrealistically large committees. */
const MAINNET_FROM_VALIDATORS = 1024;
/** Lets the attack reach its full effect before the node is stopped. */
const BEFORE_STOP_MILLIS = 1000;
/** Shutdown timeout of the servers plus a margin. */
const STOPPED_WITHIN_SECONDS = 12;
const RECOVERY_SECONDS = 2;
/** The attacker runs at low priority, since it would be on another machine. */
const ATTACKER_NICENESS = 10;

/** Prints a row per attack. Returns false if a node died, did not recover, or did not stop in time. */
export function benchAbuse({ validators, seconds, only }: AbuseOptions): Promise<boolean> {
  const names = Object.keys(ATTACKS).filter((name) => name.includes(only));
  const preset = validators < MAINNET_FROM_VALIDATORS ? "minimal" : "mainnet";
  printSetting(`${validators} validators, preset ${preset}; ${seconds} s per attack`);
  return withTempDirectory(async (directory) => {
    const args = ["dev", "--data-dir", directory, ...chainFlags(validators, preset)];
    const attacker = await Attacker.start({ niceness: ATTACKER_NICENESS });
    printHead();
    // The first start builds the chain, so it is not measured.
    await (await startNode(args, "nothing")).stop();
    await printQuiet(args, seconds);
    let isWell = true;
    for (const name of names) isWell = (await attack(name, { args, attacker, seconds })) && isWell;
    await attacker.stop();
    return isWell;
  });
}

/** Only half of the validators attest, so nothing finalizes and all states are replayed. */
function chainFlags(validators: number, preset: string): string[] {
  const acting = Math.min(validators / 2, 2048);
  const size = ["--validators", String(validators), "--dev-validators", `0-${acting - 1}`, "--preset", preset];
  const epochs = preset === "minimal" ? 40 : 2;
  return [...size, "--fork", "fulu", "--warmup-epochs", String(epochs)];
}

/** The chain advances only for attacks that read events; otherwise its work would distort the latencies. */
const speedFor = (attackName: string) => ["--speed", attackName.includes("events") ? "1" : "0.001"];

async function startNode(args: readonly string[], attackName: string): Promise<ProgramProcess> {
  const flags = [...speedFor(attackName), "--rpc", "--rpc-port", "0", "--rest", "--rest-port", "0"];
  const node = new ProgramProcess([...args, ...flags], { name: "The node", execArgv: GAUGED });
  await node.untilLine(/Dev chain is running/);
  await node.untilServed();
  await probe(node, { seconds: 1 });
  await readGauge(node);
  return node;
}

async function printQuiet(args: readonly string[], seconds: number): Promise<void> {
  const node = await startNode(args, "nothing");
  const steal = watchSteal();
  const figures = await probe(node, { seconds });
  const lost = percent(steal(), 1);
  const gauge = await readGauge(node);
  const began = performance.now();
  const { code } = await node.stop();
  printRow(
    "nothing",
    ...latencies(figures),
    ...blockedCells(gauge),
    mebibytes(figures.peakBytes),
    "",
    "",
    stopText(began, code),
    lost,
  );
}

async function attack(
  name: string,
  { args, attacker, seconds }: { args: readonly string[]; attacker: Attacker; seconds: number },
): Promise<boolean> {
  const node = await startNode(args, name);
  const target = await targetOf(node);
  const steal = watchSteal();
  const during = await probe(node, { seconds, begin: () => attacker.begin(name, target) });
  const lost = percent(steal(), 1);
  await attacker.end();
  if (node.child.exitCode !== null || node.child.signalCode !== null) {
    printRow(name, ...latencies(during), "", "", mebibytes(during.peakBytes), "died", "", "", lost);
    return false;
  }
  const gauge = await readGauge(node);
  await delay(1000);
  const after = await probe(node, { seconds: RECOVERY_SECONDS });
  const { residentBytes } = await readGauge(node);
  attacker.begin(name, target);
  await delay(BEFORE_STOP_MILLIS);
  const began = performance.now();
  const { code } = await node.stop();
  const stopSeconds = (performance.now() - began) / 1000;
  await attacker.end();
  const recovered = `p99 ${milliseconds(quantile(after.latencies, 0.99))}, ${mebibytes(residentBytes)}`;
  const left = during.unanswered > 0 ? `${during.unanswered} unanswered` : "yes";
  printRow(
    name,
    ...latencies(during),
    ...blockedCells(gauge),
    mebibytes(during.peakBytes),
    left,
    recovered,
    stopText(began, code),
    lost,
  );
  return after.unanswered === 0 && code === 0 && stopSeconds < STOPPED_WITHIN_SECONDS;
}

const latencies = ({ latencies, newcomers }: ProbeFigures) => [
  ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(latencies, share))),
  [0.5, 0.99, 1].map((share) => milliseconds(quantile(newcomers, share))).join(", "),
];
const blockedCells = ({ blockedMillis, blockedCpuMillis }: GaugeReading) => [
  milliseconds(blockedMillis),
  milliseconds(blockedCpuMillis),
];
const stopText = (began: number, code: number | null) =>
  `${((performance.now() - began) / 1000).toFixed(1)} s, code ${code}`;

function printHead(): void {
  const columns = [
    "p50",
    "p99",
    "max",
    "new connections: p50, p99, max",
    "event loop blocked",
    "blocked, CPU time",
    "peak memory",
    "alive",
    "afterwards",
    "shutdown",
    "CPU steal",
  ];
  printHeader("attack", ...columns);
}
