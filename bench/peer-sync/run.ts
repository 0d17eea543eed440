import { loadavg } from "node:os";
import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { withCleanUp } from "./clean-up.ts";
import { Nodes } from "./nodes.ts";
import type { SyncSpeed } from "./sync-speed.ts";

interface PeerSyncOptions {
  epochs: number;
  rounds: number;
  fork: string;
}

/** Baseline of the ratios. */
const BASELINE = "Lodestar from Lodestar";

/** Syncs one chain between nodes in turn, and prints the speeds. */
export async function benchPeerSync({ epochs, rounds, fork }: PeerSyncOptions): Promise<void> {
  console.log(`${describeMachine()}; ${fork}, minimal preset, 64 validators, ${epochs} epochs, ${rounds} rounds\n`);
  const speeds = new Map<string, SyncSpeed[]>();
  const loads: number[] = [];
  const note = (name: string, speed: SyncSpeed) => {
    speeds.set(name, [...(speeds.get(name) ?? []), speed]);
    loads.push(loadavg()[0]!);
    console.error(`${name}: ${speed.slotsPerSecond.toFixed(1)} slots/s, load ${loads.at(-1)!.toFixed(1)}`);
  };
  await withTempDirectory((directory) =>
    withCleanUp(async (whenDone) => {
      const nodes = new Nodes(directory);
      const maker = await nodes.makeChain(fork, epochs, whenDone);
      const lodestar = await nodes.syncLodestar(maker, whenDone);
      note("Lodestar from Fanal", lodestar);
      for (let round = 0; round < rounds; round++) {
        // Each node stops before the next one starts.
        note("Fanal from Fanal", await withCleanUp((done) => nodes.syncFanal(maker, done)));
        note("Fanal from Lodestar", await withCleanUp((done) => nodes.syncFanal(lodestar, done)));
        note(BASELINE, await withCleanUp((done) => nodes.syncLodestar(lodestar, done)));
        if (round > 0) note("Lodestar from Fanal", await withCleanUp((done) => nodes.syncLodestar(maker, done)));
      }
    }),
  );
  printTable(speeds);
  console.log(`\nLoad average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}.`);
}

function printTable(speeds: ReadonlyMap<string, readonly SyncSpeed[]>): void {
  const rate = (name: string) => median(speeds.get(name)!.map(({ slotsPerSecond }) => slotsPerSecond));
  const cpu = (name: string) => median(speeds.get(name)!.map(({ cpuMsPerSlot }) => cpuMsPerSlot ?? NaN));
  console.log(`Ratios are relative to ${BASELINE}.\n`);
  console.log("| | slots/s | slowest and fastest | ratio | CPU ms per slot | ratio |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  for (const [name, all] of speeds) {
    const sorted = all.map(({ slotsPerSecond }) => slotsPerSecond).toSorted((a, b) => a - b);
    const cells = [
      rate(name).toFixed(1),
      `${sorted[0]!.toFixed(1)} to ${sorted.at(-1)!.toFixed(1)}`,
      (rate(name) / rate(BASELINE)).toFixed(2),
      cpu(name).toFixed(1),
      (cpu(name) / cpu(BASELINE)).toFixed(2),
    ];
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}
