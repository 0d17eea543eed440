import { NodeProcess } from "../support/node-process.ts";
import { median } from "../support/statistics.ts";
import { megabytes, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

const STARTS = 5;
const WARM_UP_SLOTS = 600;
const ROUNDS = 7;
const SLOTS = 200;
const ENGINES = { "built-in engine": "--no-evm", EVM: "--evm" } as const;

type Figures = Record<keyof typeof ENGINES, number[]>;

const noFigures = (): Figures => ({ "built-in engine": [], EVM: [] });

/** Compares the real program with and without the EVM, in turn, so that machine load affects both. */
export async function benchNode(): Promise<void> {
  const columns = Object.keys(ENGINES) as (keyof typeof ENGINES)[];
  printHeader("the program, elapsed time", ...columns);
  const answers = await firstAnswers();
  printRow("first answer", ...columns.map((engine) => seconds(median(answers[engine]))));
  const { perSlot, resident } = await advancing();
  printRow("a slot of dev_advance", ...columns.map((engine) => `${median(perSlot[engine]).toFixed(2)} ms`));
  printRow("dev_advance", ...columns.map((engine) => `${(1000 / median(perSlot[engine])).toFixed(0)} slots/s`));
  printRow("resident memory", ...columns.map((engine) => megabytes(resident[engine].at(-1)!)));
}

/** Milliseconds from process start to the first response, on an empty data directory. */
async function firstAnswers(): Promise<Figures> {
  const times = noFigures();
  for (let run = 0; run < STARTS; run++) {
    await withEach(["--warmup-epochs", "0"], async (engine, open) => {
      const node = await open();
      await node.head();
      times[engine].push(performance.now() - node.startedAt);
      await node.stop();
    });
  }
  return times;
}

async function advancing(): Promise<{ perSlot: Figures; resident: Figures }> {
  const perSlot = noFigures();
  const resident = noFigures();
  const nodes = new Map<keyof typeof ENGINES, NodeProcess>();
  await withEach(["--speed", "0"], async (engine, open) => {
    const node = await open();
    nodes.set(engine, node);
    await node.call("dev_advance", [WARM_UP_SLOTS]);
    if (nodes.size < Object.keys(ENGINES).length) return;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, each] of nodes) {
        const begin = performance.now();
        await each.call("dev_advance", [SLOTS]);
        perSlot[name].push((performance.now() - begin) / SLOTS);
        resident[name].push(each.usage.residentBytes);
      }
    }
    await Promise.all([...nodes.values()].map((each) => each.stop()));
  });
  return { perSlot, resident };
}

type Work = (engine: keyof typeof ENGINES, open: () => Promise<NodeProcess>) => Promise<void>;

function withEach(flags: readonly string[], work: Work): Promise<void> {
  return withTempDirectory(async (directory) => {
    for (const [index, engine] of (Object.keys(ENGINES) as (keyof typeof ENGINES)[]).entries()) {
      const args = ["dev", "--data-dir", `${directory}/${index}`, ENGINES[engine], ...flags];
      await work(engine, () => NodeProcess.start(engine, args));
    }
  });
}
