import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { ChannelMessage } from "../../threads/channel.ts";
import { ErrorRegistry } from "../../threads/error-registry.ts";
import type { KzgBackendName } from "./backend.ts";
import type { KzgJobs, KzgWorkerData } from "./jobs.ts";
import { ThreadedKzg } from "./threaded-kzg.ts";

interface KzgRequest<Kind extends keyof KzgJobs = keyof KzgJobs> {
  id: number;
  kind: Kind;
  input: KzgJobs[Kind]["input"];
}

/** Fake worker thread. Requests are held until the test answers them. */
class ScriptedWorker extends EventEmitter {
  readonly data: KzgWorkerData;
  readonly requests: KzgRequest[] = [];
  isHeld = false;
  isTerminated = false;

  constructor(data: KzgWorkerData) {
    super();
    this.data = data;
  }

  postMessage(messages: unknown): void {
    const [[, id, kind, [input]]] = messages as [[kind: "call", id: number, method: keyof KzgJobs, args: [never]]];
    this.requests.push({ id, kind, input });
  }

  ref(): void {
    this.isHeld = true;
  }

  unref(): void {
    this.isHeld = false;
  }

  async terminate(): Promise<number> {
    this.isTerminated = true;
    return 0;
  }

  #send(message: ChannelMessage): void {
    this.emit("message", [message]);
  }

  load(backend: KzgBackendName, skipped: string[] = []): void {
    this.#send(["notify", "loaded", [{ backend, skipped }]]);
  }

  loadNothing(reason: string): void {
    this.#send(["notify", "unavailable", [reason]]);
  }

  /** Answers the oldest request. Resolves when the next request has been sent. */
  async answer(result: KzgJobs[keyof KzgJobs]["result"]): Promise<void> {
    this.#send(["result", this.requests.shift()!.id, result]);
    await setImmediate();
  }

  /** Fails the oldest request. */
  fail(reason: string): void {
    this.#send(["error", this.requests.shift()!.id, new ErrorRegistry().serialize(new Error(reason))]);
  }

  async die(...[event, detail]: ["exit", number] | ["error", Error]): Promise<void> {
    this.emit(event, detail);
    await setImmediate();
  }
}

function open({ processors = 2 } = {}) {
  const workers: ScriptedWorker[] = [];
  const logger = createRecordingLogger();
  const startWorker = (data: KzgWorkerData) => {
    const worker = new ScriptedWorker(data);
    workers.push(worker);
    return worker;
  };
  return { kzg: new ThreadedKzg(logger, { processors, startWorker }), workers, logger };
}

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Cells of a blob with the given commitment. */
const cellBatch = (blob: number, count: number) => ({
  commitments: Array(count).fill(bytes(blob)),
  cellIndices: Array.from({ length: count }, (_, index) => index % 128),
  cells: Array.from({ length: count }, (_, index) => bytes(blob, index % 128)),
  proofs: Array(count).fill(bytes(9)),
});

describe("ThreadedKzg", () => {
  it("merges waiting verifications into one batch and splits the verdicts", async () => {
    const { kzg, workers } = open();
    const verdicts = [1, 2, 3].map((blob) => kzg.verifyCells(cellBatch(blob, blob)));
    const [worker] = workers as [ScriptedWorker];
    expect(worker.requests.map(({ input }) => input)).toEqual([{ ...cellBatch(1, 1), groups: [1] }]);
    await worker.answer({ verdicts: [true] });
    const both = { ...cellBatch(2, 2), groups: [2, 3] };
    for (const [key, list] of Object.entries(cellBatch(3, 3)))
      both[key as keyof typeof both].push(...(list as never[]));
    expect(worker.requests.map(({ input }) => input)).toEqual([both]);
    expect(worker.isHeld).toBe(true);
    await worker.answer({ verdicts: [false, true] });
    expect(await Promise.all(verdicts)).toEqual([true, false, true]);
    expect(worker.isHeld).toBe(false);
  });

  it("splits large batches", async () => {
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
      await worker.answer({ verdicts: input.groups.map((size) => size !== 76) });
    }
    expect(kinds).toEqual([
      ["verifyCells", [512]],
      ["verifyCells", [512]],
      ["verifyCells", [76]],
      ["verifyBlobs", [1]],
    ]);
    expect(await Promise.all([large, small])).toEqual([false, true]);
  });

  it("accepts empty batches and rejects ragged ones without a thread", async () => {
    const { kzg, workers } = open();
    expect(await kzg.verifyBlobs({ blobs: [], commitments: [], proofs: [] })).toBe(true);
    expect(await kzg.verifyCells({ ...cellBatch(1, 2), proofs: [bytes(9)] })).toBe(false);
    expect(workers).toEqual([]);
  });

  it("proves in separate threads, one fewer than cores", async () => {
    const { kzg, workers } = open({ processors: 3 });
    const proofs = [1, 2, 3].map((blob) => kzg.cellsAndProofsOf(bytes(blob)));
    workers[0]!.load("node-eth-kzg");
    const urgent = kzg.cellsOf(bytes(4));
    const requests = () => workers.map(({ data, requests }) => [data.precompute, requests.map(({ input }) => input)]);
    expect(requests()).toEqual([
      [true, [{ blob: bytes(1) }]],
      [true, [{ blob: bytes(2) }]],
      [false, [{ blob: bytes(4) }]],
    ]);
    await workers[1]!.answer({ cells: [bytes(2)], proofs: [] });
    expect(requests()[1]).toEqual([true, [{ blob: bytes(3) }]]);
    await workers[2]!.answer({ cells: [bytes(4)] });
    await workers[1]!.answer({ cells: [bytes(3)], proofs: [] });
    await workers[0]!.answer({ cells: [bytes(1)], proofs: [] });
    expect((await Promise.all(proofs)).map(({ cells }) => cells)).toEqual([[bytes(1)], [bytes(2)], [bytes(3)]]);
    expect(await urgent).toEqual([bytes(4)]);
  });

  it("runs the portable backend in one thread for verification and one for proofs", async () => {
    const { kzg, workers, logger } = open({ processors: 8 });
    const reason = "node-eth-kzg: Cannot find module '@crate-crypto/node-eth-kzg-linux-arm64-gnu'";
    const jobs = [1, 2, 3].flatMap((blob) => [kzg.cellsOf(bytes(blob)), kzg.cellsAndProofsOf(bytes(blob))]);
    const ends = Promise.allSettled(jobs);
    for (const worker of workers) worker.load("portable", [reason, "c-kzg: Cannot find package 'c-kzg'"]);
    expect(workers.map(({ data }) => data.precompute)).toEqual([false, true]);
    expect(logger.records).toMatchObject([
      { level: "notice", message: "KZG backend loaded", fields: { backend: "portable", reason } },
    ]);
    await kzg.close();
    await ends;
  });

  it("runs urgent jobs first", async () => {
    const { kzg, workers } = open();
    const jobs = [kzg.commitmentOf(bytes(1)), kzg.blobProofOf(bytes(2), bytes(3)), kzg.cellsOf(bytes(4))];
    const [worker] = workers as [ScriptedWorker];
    await worker.answer({ commitment: bytes(1) });
    expect(worker.requests.map(({ kind }) => kind)).toEqual(["cellsOf"]);
    await worker.answer({ cells: [] });
    await worker.answer({ proof: bytes(2) });
    expect(await Promise.all(jobs)).toEqual([bytes(1), bytes(2), []]);
  });

  it("retries a job once after its thread died", async () => {
    const { kzg, workers, logger } = open();
    const lucky = kzg.cellsOf(bytes(1));
    await workers[0]!.die("exit", 1);
    await workers[1]!.answer({ cells: [bytes(2)] });
    expect(await lucky).toEqual([bytes(2)]);
    const fatal = expect(kzg.commitmentOf(bytes(3))).rejects.toThrow("died before it finished");
    const waiting = kzg.blobProofOf(bytes(4), bytes(5));
    await workers[1]!.die("error", new Error("no memory"));
    await workers[2]!.die("exit", 1);
    await fatal;
    await workers[3]!.answer({ proof: bytes(6) });
    expect(await waiting).toEqual(bytes(6));
    expect(workers).toHaveLength(4);
    expect(logger.records.map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  });

  it("reports why a computation failed", async () => {
    const { kzg, workers } = open();
    const computed = kzg.commitmentOf(bytes(1));
    workers[0]!.fail("Invalid blob.");
    await expect(computed).rejects.toThrow("Invalid blob.");
  });

  it("fails every job with one log line and starts no further thread when no backend loads", async () => {
    const { kzg, workers, logger } = open();
    const jobs = Promise.allSettled([kzg.cellsOf(bytes(1)), kzg.cellsAndProofsOf(bytes(2))]);
    for (const worker of workers) {
      worker.loadNothing("No KZG backend loads.");
      worker.emit("exit", 0);
    }
    expect((await jobs).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(kzg.verifyCells(cellBatch(1, 1))).rejects.toThrow("No KZG backend loads.");
    kzg.prepare();
    expect(workers).toHaveLength(2);
    expect(logger.records.map(({ level }) => level)).toEqual(["error"]);
  });

  it("leaves a load failure to the caller of load", async () => {
    const { kzg, workers, logger } = open();
    const loading = kzg.load();
    workers[0]!.loadNothing("No KZG backend loads.");
    await expect(loading).rejects.toThrow("No KZG backend loads.");
    expect(logger.records).toEqual([]);
  });

  it("rejects running and later jobs once closed", async () => {
    const { kzg, workers } = open();
    const jobs = [1, 2].map((blob) => kzg.commitmentOf(bytes(blob)));
    const ends = Promise.allSettled(jobs);
    await kzg.close();
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await workers[0]!.die("exit", 1);
    kzg.prepare();
    await expect(kzg.verifyCells(cellBatch(1, 1))).rejects.toThrow("is shutting down");
    expect(workers).toHaveLength(1);
  });
});
