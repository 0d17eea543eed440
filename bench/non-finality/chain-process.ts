/** Opens a stored dev chain, advances it and looks up states on request of the parent. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { DevFork } from "../../src/dev/forks.ts";
import { parentGone, report } from "../support/child.ts";
import { type BenchedChain, openDevChain } from "../support/dev-chain.ts";
import { mean } from "../support/statistics.ts";
import { Stopwatch } from "../support/stopwatch.ts";

export interface ChainOrder {
  directory: string;
  fork: string;
  validators: number;
  /** Number of validators that attest. */
  activeValidators: number;
  /** Last epoch of the chain. */
  epochs: number;
}

export type ChainRequest = { open: ChainOrder } | { advanceTo: { epoch: number } } | { lookUp: { epochs: number } };

export interface Opened {
  milliseconds: number;
  /** CPU time, comparable on a busy machine. */
  cpuMilliseconds: number;
}

export interface ChainFigures {
  importMilliseconds: number;
  residentBytes: number;
  databasePath: string;
  storedStates: number;
  storedStateBytes: number;
  unfinalizedBlocks: number;
  finalizedEpoch: number;
}

export interface Lookups {
  meanMilliseconds: number;
  longestMilliseconds: number;
  /** Mean CPU time of a lookup. */
  cpuMilliseconds: number;
}

/** Imports are timed over the last epochs of a stage. */
const TIMED_EPOCHS = 20;
/** Lookups are spread over the distance between two stored states. */
const LOOKUPS = 8;
const EPOCHS_BETWEEN_LOOKUPS = 4;

let opened: (BenchedChain & { close(): Promise<void> }) | undefined;

process.on("message", (request: ChainRequest) => void answer(request).then(report));
report({ ready: true });
await parentGone();
await opened?.close();

async function answer(request: ChainRequest): Promise<Opened | ChainFigures | Lookups> {
  if ("open" in request) return open(request.open);
  if (!opened) throw new Error("The chain is not open.");
  return "advanceTo" in request ? advanceTo(opened, request.advanceTo.epoch) : lookUp(opened, request.lookUp);
}

async function open({ directory, fork, validators, activeValidators, epochs }: ChainOrder): Promise<Opened> {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const acting = Array.from({ length: activeValidators }, (_, index) => index);
  const forks = fork === "phase0" ? [] : [{ fork: fork as DevFork, epoch: 0 }];
  opened = await openDevChain(directory, { validators, activeValidators: acting, forks, epochs });
  return { milliseconds: performance.now() - start, cpuMilliseconds: cpuSince(cpuBefore) };
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function advanceTo({ devChain, db }: BenchedChain, epoch: number): Promise<ChainFigures> {
  const { chain, clock } = devChain;
  await clock.advanceTo(Math.max(clock.currentSlot, (epoch - TIMED_EPOCHS) * SLOTS_PER_EPOCH));
  const stopwatch = new Stopwatch();
  // Validators of gloas hand their blocks and payloads to the chain directly.
  for (const method of ["importBlock", "importOwnBlock", "importOwnPayload"] as const) {
    stopwatch.time(chain, method, "import");
  }
  let blocks = 0;
  chain.events.on("block", () => blocks++);
  await clock.advanceTo(epoch * SLOTS_PER_EPOCH);
  const importMilliseconds = stopwatch.lap().get("import")! / blocks;
  globalThis.gc?.();
  const residentBytes = process.memoryUsage.rss();
  let [storedStates, storedStateBytes] = [0, 0];
  for await (const { slot, blockRoot } of db.snapshots.keys()) {
    storedStates++;
    storedStateBytes += (await db.snapshots.get(slot, blockRoot))?.length ?? 0;
  }
  return {
    importMilliseconds,
    residentBytes,
    databasePath: db.path,
    storedStates,
    storedStateBytes,
    unfinalizedBlocks: [...chain.forkChoice.all()].length - 1,
    finalizedEpoch: chain.forkChoice.finalized.epoch,
  };
}

/** Looks up states in descending order, so that no lookup can reuse the replay of the one before. */
async function lookUp({ devChain }: BenchedChain, { epochs }: { epochs: number }): Promise<Lookups> {
  const { states, head } = devChain.chain;
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let lookup = 0; lookup < LOOKUPS; lookup++) {
    const slot =
      head.slot - (epochs - (LOOKUPS * EPOCHS_BETWEEN_LOOKUPS) / 2 + lookup * EPOCHS_BETWEEN_LOOKUPS) * SLOTS_PER_EPOCH;
    const start = performance.now();
    await states.canonicalAtSlot(slot);
    times.push(performance.now() - start);
  }
  return {
    meanMilliseconds: mean(times),
    longestMilliseconds: Math.max(...times),
    cpuMilliseconds: cpuSince(cpuBefore) / LOOKUPS,
  };
}
