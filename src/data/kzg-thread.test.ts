import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import type { KzgJobs, KzgRequest } from "./kzg-jobs.ts";
import { KzgThread } from "./kzg-thread.ts";

/** Stands for the thread: keeps what it is asked until the test answers. */
class ScriptedWorker extends EventEmitter {
  readonly requests: KzgRequest[] = [];
  isHeld = false;

  postMessage(request: KzgRequest): void {
    this.requests.push(request);
  }

  ref(): void {
    this.isHeld = true;
  }

  unref(): void {
    this.isHeld = false;
  }

  async terminate(): Promise<number> {
    return 0;
  }

  /** Answers the oldest question. */
  answer(answer: KzgJobs[keyof KzgJobs]["answer"]): void {
    this.emit("message", { id: this.requests.shift()!.id, answer });
  }
}

function open({ processors = 2 } = {}) {
  const workers: ScriptedWorker[] = [];
  const logger = createRecordingLogger();
  const startWorker = () => {
    const worker = new ScriptedWorker();
    workers.push(worker);
    return worker as unknown as Worker;
  };
  return { kzg: new KzgThread(logger, { processors, startWorker }), workers, logger };
}

const bytes = (...values: number[]) => Uint8Array.from(values);

/** So many cells of the blob with that commitment. */
const cellBatch = (blob: number, count: number) => ({
  commitments: Array(count).fill(bytes(blob)),
  cellIndices: Array.from({ length: count }, (_, index) => index % 128),
  cells: Array.from({ length: count }, (_, index) => bytes(blob, index % 128)),
  proofs: Array(count).fill(bytes(9)),
});

describe("KzgThread", () => {
  it("verifies what waits together as one batch, and tells each who asked of its own", async () => {
    const { kzg, workers } = open();
    const verdicts = [1, 2, 3].map((blob) => kzg.verifyCells(cellBatch(blob, blob)));
    const [worker] = workers as [ScriptedWorker];
    expect(worker.requests.map(({ input }) => input)).toEqual([{ ...cellBatch(1, 1), groups: [1] }]);
    worker.answer({ verdicts: [true] });
    const both = { ...cellBatch(2, 2), groups: [2, 3] };
    for (const [key, list] of Object.entries(cellBatch(3, 3)))
      both[key as keyof typeof both].push(...(list as never[]));
    expect(worker.requests.map(({ input }) => input)).toEqual([both]);
    expect(worker.isHeld).toBe(true);
    worker.answer({ verdicts: [false, true] });
    expect(await Promise.all(verdicts)).toEqual([true, false, true]);
    expect(worker.isHeld).toBe(false);
  });

  it("splits what is large, so that nobody waits for all of it", async () => {
    const { kzg, workers } = open();
    const [large, small] = [
      kzg.verifyCells(cellBatch(1, 1100)),
      kzg.verifyBlobs({ blobs: [bytes(1)], commitments: [bytes(2)], proofs: [bytes(3)] }),
    ];
    const [worker] = workers as [ScriptedWorker];
    const kinds: unknown[] = [];
    while (worker.requests.length > 0) {
      const [{ kind, input }] = worker.requests as [KzgRequest<"verifyCells">];
      kinds.push([kind, input.groups]);
      worker.answer({ verdicts: input.groups.map((size) => size !== 76) });
    }
    expect(kinds).toEqual([
      ["verifyCells", [512]],
      ["verifyCells", [512]],
      ["verifyCells", [76]],
      ["verifyBlobs", [1]],
    ]);
    expect(await Promise.all([large, small])).toEqual([false, true]);
  });

  it("asks nobody about nothing, and finds wrong what has no partner", async () => {
    const { kzg, workers } = open();
    expect(await kzg.verifyBlobs({ blobs: [], commitments: [], proofs: [] })).toBe(true);
    expect(await kzg.verifyCells({ ...cellBatch(1, 2), proofs: [bytes(9)] })).toBe(false);
    expect(workers).toEqual([]);
  });

  it("does not let what takes long hold up what is urgent, nor take every thread", async () => {
    const { kzg, workers } = open({ processors: 3 });
    const long = [1, 2, 3].map((blob) => kzg.cellsAndProofsOf(bytes(blob)));
    const urgent = kzg.cellsOf(bytes(4));
    const [worker] = workers as [ScriptedWorker];
    expect(worker.requests.map(({ kind }) => kind)).toEqual(["cellsAndProofsOf", "cellsAndProofsOf", "cellsOf"]);
    for (const byte of [1, 2]) worker.answer({ cells: [bytes(byte)], proofs: [] });
    worker.answer({ cells: [bytes(4)] });
    worker.answer({ cells: [bytes(3)], proofs: [] });
    expect((await Promise.all(long)).map(({ cells }) => cells)).toEqual([[bytes(1)], [bytes(2)], [bytes(3)]]);
    expect(await urgent).toEqual([bytes(4)]);
  });

  it("has another thread do once more what one died of, and no third", async () => {
    const { kzg, workers, logger } = open();
    const lucky = kzg.cellsOf(bytes(1));
    workers[0]!.emit("exit", 1);
    workers[1]!.answer({ cells: [bytes(2)] });
    expect(await lucky).toEqual([bytes(2)]);
    const fatal = kzg.commitmentOf(bytes(3));
    const waiting = kzg.blobProofOf(bytes(4), bytes(5));
    workers[1]!.emit("error", new Error("no memory"));
    workers[2]!.emit("exit", 1);
    await expect(fatal).rejects.toThrow("died before it was done");
    workers[3]!.answer({ proof: bytes(6) });
    expect(await waiting).toEqual(bytes(6));
    expect(workers).toHaveLength(4);
    expect(logger.records.map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  });

  it("tells why something cannot be computed", async () => {
    const { kzg, workers } = open();
    const computed = kzg.commitmentOf(bytes(1));
    workers[0]!.emit("message", { id: workers[0]!.requests[0]!.id, failure: "That is no blob." });
    await expect(computed).rejects.toThrow("That is no blob.");
  });

  it("ends all that is under way when it is closed, and begins nothing more", async () => {
    const { kzg, workers } = open();
    const jobs = [1, 2].map((blob) => kzg.commitmentOf(bytes(blob)));
    const ends = Promise.allSettled(jobs);
    await kzg.close();
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    workers[0]!.emit("exit", 1);
    kzg.prepare();
    await expect(kzg.verifyCells(cellBatch(1, 1))).rejects.toThrow("is being closed");
    expect(workers).toHaveLength(1);
  });
});
