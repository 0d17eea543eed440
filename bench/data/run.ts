import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { KZG_BACKENDS, type KzgBackendName } from "../../src/data/kzg/backend.ts";
import { describeMachine } from "../support/machine.ts";

const MAX_BLOCKED_MS = 30;

export interface Figure {
  name: string;
  milliseconds: number;
  /** Longest time that the main thread was blocked. */
  blockedMs: number;
}

export interface BackendFigures {
  figures: Figure[];
  /** Memory growth after loading and verifying, and after proofs. */
  verifyingMb: number;
  provingMb: number;
}

/** Prints one table with a column per backend. Returns false if the main thread was blocked for too long. */
export async function benchData({ rounds }: { rounds: number }): Promise<boolean> {
  console.log(
    `${describeMachine()}; medians of ${rounds} rounds, 2 for proofs; in brackets the ratio to the first column\n`,
  );
  const measured = new Map<KzgBackendName, BackendFigures>();
  for (const backend of KZG_BACKENDS) {
    const result = await measure(backend, rounds);
    if ("unavailable" in result) console.log(`${backend}: ${result.unavailable}\n`);
    else measured.set(backend, result);
  }
  printTable(measured);
  const blocked = Math.max(
    ...[...measured.values()].flatMap(({ figures }) => figures.map(({ blockedMs }) => blockedMs)),
  );
  console.log(`\nThe main thread was blocked for ${blocked.toFixed(0)} ms at most.`);
  return blocked < MAX_BLOCKED_MS;
}

async function measure(backend: KzgBackendName, rounds: number): Promise<BackendFigures | { unavailable: string }> {
  const child = fork(fileURLToPath(new URL("./backend-process.ts", import.meta.url)), [backend, String(rounds)]);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The process of ${backend} exited with code ${code} before it reported figures.`);
  });
  const [result] = await Promise.race([once(child, "message"), ended]);
  ended.catch(() => {});
  return result as BackendFigures | { unavailable: string };
}

function printTable(measured: ReadonlyMap<KzgBackendName, BackendFigures>): void {
  const columns = [...measured.values()];
  const [baseline] = columns;
  if (baseline === undefined) return;
  console.log(`| ms | ${[...measured.keys()].join(" | ")} |\n| --- |${columns.map(() => " ---: |").join("")}`);
  for (const [row, { name, milliseconds }] of baseline.figures.entries()) {
    const cells = columns.map(({ figures }, column) => {
      const ms = figures[row]!.milliseconds;
      const ratio = column === 0 ? "" : ` (${(ms / milliseconds).toFixed(1)})`;
      return `${ms.toFixed(ms < 100 ? 1 : 0)}${ratio}`;
    });
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
  console.log(`| memory after verification, MB | ${columns.map(({ verifyingMb }) => verifyingMb).join(" | ")} |`);
  console.log(`| memory after proofs, MB | ${columns.map(({ provingMb }) => provingMb).join(" | ")} |`);
}
