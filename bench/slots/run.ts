import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  processSlots,
} from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { PipelineImport } from "../import/pipeline-import.ts";
import { describeMachine } from "../support/machine.ts";
import { median } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Crowd } from "./crowd.ts";
import { crowdedState } from "./crowded-state.ts";

/** One block in this many is produced by the node itself. */
const PRODUCED_EVERY = 8;

/** Wall time, and CPU time of the main thread, in milliseconds. */
interface Times {
  passed: number;
  worked: number;
}

type Lap = Map<string, Times>;

/** Advances a chain and prints the time per kind of work. */
export async function benchSlots({ validators, slots }: { validators: number; slots: number }): Promise<void> {
  useNativeHasher();
  console.log(`${describeMachine()}; ${validators} validators, ${slots} slots`);
  await withTempDirectory(async (directory) => {
    const { config, state } = crowdedState(validators);
    const pipeline = await PipelineImport.open(
      directory,
      { config, genesisTime: state.genesisTime, genesisState: state.serialize(), blocks: [] },
      { sync: false },
    );
    try {
      const laps = await goThroughSlots(pipeline, state.slot, slots);
      console.log(tableOf(laps));
      console.log(aboutTransition(pipeline.chain.headState));
      global.gc?.();
      const { heapUsed, external, rss } = process.memoryUsage();
      console.log(`Memory at the end, MB: heap ${inMb(heapUsed)}, external ${inMb(external)}, RSS ${inMb(rss)}`);
    } finally {
      await pipeline.close();
    }
  });
}

async function goThroughSlots(pipeline: PipelineImport, from: Slot, slots: number): Promise<Map<Slot, Lap>> {
  const { chain } = pipeline;
  const crowd = new Crowd(pipeline);
  const laps = new Map<Slot, Lap>();
  let lap: Lap = new Map();
  const timed = async <T>(label: string, work: () => Promise<T>): Promise<T> => {
    const before = { passed: performance.now(), worked: workedMs() };
    try {
      return await work();
    } finally {
      lap.set(label, { passed: performance.now() - before.passed, worked: workedMs() - before.worked });
    }
  };
  chain.clock.onSlot(async (slot) => {
    await timed("slot tick: fork choice with all votes", () => chain.refreshHead());
    if (slot % PRODUCED_EVERY === PRODUCED_EVERY - 1) {
      const produced = await timed("production", () => crowd.produceBy(chain.producer, slot));
      await timed("import of a block produced here", () => crowd.publish(produced));
    } else {
      const block = await crowd.receive(slot);
      await timed("import of a block until it is the head", () => chain.importBlock(block));
    }
    await crowd.voteJointly(slot);
    const votes = await crowd.singleVotes(slot);
    await timed(`${votes.length} single attestations`, () => chain.processor.attestations(votes));
  });
  for (let slot = from + 1; slot <= from + slots; slot++) {
    lap = new Map();
    await pipeline.tick(slot);
    laps.set(slot, lap);
  }
  return laps;
}

/** Formats a table with the first slots of epochs in a separate column. */
function tableOf(laps: ReadonlyMap<Slot, Lap>): string {
  const labels = new Set([...laps.values()].flatMap((lap) => [...lap.keys()]));
  const isFirst = (slot: Slot) => slot % SLOTS_PER_EPOCH === 0;
  const rows = [...labels].map((label) => {
    const cells = [isFirst, (slot: Slot) => !isFirst(slot)].map((isOf) => {
      const times = [...laps].flatMap(([slot, lap]) => (isOf(slot) ? (lap.get(label) ?? []) : []));
      if (times.length === 0) return "-";
      const [passed, worked] = [times.map((each) => each.passed), times.map((each) => each.worked)];
      return `${median(worked).toFixed(0)} (${Math.max(...worked).toFixed(0)}), ${median(passed).toFixed(0)}`;
    });
    return `| ${label} | ${cells.join(" | ")} |`;
  });
  const epochs = new Set([...laps.keys()].map(computeEpochAtSlot)).size;
  return [
    `| CPU ms of the main thread, median (longest), wall median; ${epochs} epochs | first slot of an epoch | other slots |`,
    "|---|---|---|",
    ...rows,
  ].join("\n");
}

/** Measures the library's epoch transition, which the node prepares before the boundary. */
function aboutTransition(state: CachedBeaconStateAllForks): string {
  const before = workedMs();
  const next = processSlots(state, computeStartSlotAtEpoch(computeEpochAtSlot(state.slot) + 1));
  const between = workedMs();
  next.hashTreeRoot();
  const [slots, root] = [between - before, workedMs() - between].map((ms) => ms.toFixed(0));
  return `Epoch transition of the library, CPU ms of the main thread: processSlots ${slots}, hashTreeRoot ${root}`;
}

/** CPU time of this thread. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const inMb = (bytes: number) => (bytes / 1e6).toFixed(0);
