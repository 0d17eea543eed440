/** A dev chain in a directory that others open before and after. It does what its parent asks for, and ends with it. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { parentGone, report } from "../support/child.ts";
import { type BenchedChain, openDevChain } from "../support/dev-chain.ts";
import { mean } from "../support/statistics.ts";
import { Stopwatch } from "../support/stopwatch.ts";

export interface Order {
  directory: string;
  validators: number;
  /** How many of them act. */
  activeValidators: number;
  /** How far the chain will go. */
  epochs: number;
}

export type Question = { open: Order } | { advanceTo: { epoch: number } } | { lookBack: { epochs: number } };

export interface Opened {
  milliseconds: number;
  /** Of the processor, which says more than the clock while others use the machine. */
  cpuMilliseconds: number;
}

export interface Standing {
  importMilliseconds: number;
  residentBytes: number;
  databasePath: string;
  storedStates: number;
  storedStateBytes: number;
  unfinalizedBlocks: number;
  finalizedEpoch: number;
}

export interface LookUps {
  meanMilliseconds: number;
  worstMilliseconds: number;
  /** Of one on the average. */
  cpuMilliseconds: number;
}

/** Over so many epochs at the end of a stage the import of a block is timed. */
const TIMED_EPOCHS = 20;
/** Look-ups are spread over as many epochs as lie between two states that are kept. */
const LOOK_UPS = 8;
const EPOCHS_BETWEEN_LOOK_UPS = 4;

let opened: (BenchedChain & { close(): Promise<void> }) | undefined;

process.on("message", (question: Question) => void answer(question).then(report));
report({ ready: true });
await parentGone();
await opened?.close();

async function answer(question: Question): Promise<Opened | Standing | LookUps> {
  if ("open" in question) return open(question.open);
  if (!opened) throw new Error("The chain has to be opened first.");
  return "advanceTo" in question ? advanceTo(opened, question.advanceTo.epoch) : lookBack(opened, question.lookBack);
}

async function open({ directory, validators, activeValidators, epochs }: Order): Promise<Opened> {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const acting = Array.from({ length: activeValidators }, (_, index) => index);
  opened = await openDevChain(directory, { validators, activeValidators: acting, forks: [], epochs });
  return { milliseconds: performance.now() - start, cpuMilliseconds: cpuSince(cpuBefore) };
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function advanceTo({ devChain, db }: BenchedChain, epoch: number): Promise<Standing> {
  const { chain, clock } = devChain;
  await clock.advanceTo(Math.max(clock.currentSlot, (epoch - TIMED_EPOCHS) * SLOTS_PER_EPOCH));
  const stopwatch = new Stopwatch();
  stopwatch.time(chain, "importBlock", "import");
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

/** From the latest to the earliest, so that none can begin where the one before ended. */
async function lookBack({ devChain }: BenchedChain, { epochs }: { epochs: number }): Promise<LookUps> {
  const { states, head } = devChain.chain;
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let lookUp = 0; lookUp < LOOK_UPS; lookUp++) {
    const slot =
      head.slot -
      (epochs - (LOOK_UPS * EPOCHS_BETWEEN_LOOK_UPS) / 2 + lookUp * EPOCHS_BETWEEN_LOOK_UPS) * SLOTS_PER_EPOCH;
    const start = performance.now();
    await states.canonicalAtSlot(slot);
    times.push(performance.now() - start);
  }
  return {
    meanMilliseconds: mean(times),
    worstMilliseconds: Math.max(...times),
    cpuMilliseconds: cpuSince(cpuBefore) / LOOK_UPS,
  };
}
