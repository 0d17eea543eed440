// Measures one KZG backend in its own process, which isolates load time and memory.
import type { KzgBackendName } from "../../src/data/kzg/backend.ts";
import { ThreadedKzg } from "../../src/data/kzg/threaded-kzg.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { median } from "../support/statistics.ts";
import { benchBlocks } from "./blocks.ts";
import { MainThread } from "./main-thread.ts";
import { OPERATIONS, PROOFS } from "./operations.ts";
import type { BackendFigures, Figure } from "./run.ts";

const [backend, rounds] = [process.argv[2] as KzgBackendName, Number(process.argv[3])];
/** Proofs take seconds on the portable backend. */
const PROOF_ROUNDS = 2;

const rssMb = () => Math.round(process.memoryUsage().rss / 2 ** 20);

async function measure(): Promise<BackendFigures | { unavailable: string }> {
  const { logger } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
  const kzg = new ThreadedKzg(logger, { backend });
  const before = rssMb();
  try {
    await kzg.load();
  } catch (error) {
    return { unavailable: (error as Error).message };
  }
  const mainThread = new MainThread();
  const time = async (name: string, count: number, work: () => Promise<unknown>): Promise<Figure> => {
    const times: number[] = [];
    mainThread.takeLongestMs();
    for (let round = 0; round < count; round++) {
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
    }
    return { name, milliseconds: median(times), blockedMs: mainThread.takeLongestMs() };
  };
  const load = await time("load the backend and its setup, first verification", 1, () => OPERATIONS[0]!.run(kzg));
  const figures = [load];
  for (const { name, run } of OPERATIONS) figures.push(await time(name, rounds, () => run(kzg)));
  const verifyingMb = rssMb() - before;
  for (const { name, run } of PROOFS) {
    // The first one starts a thread and builds its tables.
    await run(kzg);
    figures.push(await time(name, PROOF_ROUNDS, () => run(kzg)));
  }
  const provingMb = rssMb() - before;
  await kzg.close();
  for (const blobs of [1, 3, 6]) figures.push(...(await benchBlocks({ rounds, blobs, backend, mainThread })));
  mainThread.close();
  return { figures, verifyingMb, provingMb };
}

process.send!(await measure(), () => process.exit());
