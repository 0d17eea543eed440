// Worker thread. Loads only the signature library, so that it starts in milliseconds and needs no preset or
// configuration.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../runtime/thread-priority.ts";
import { doJob } from "./jobs.ts";
import type { WorkerAnswer, WorkerOptions, WorkerRequest } from "./worker-pool.ts";

if ((workerData as WorkerOptions | null)?.isBackground) lowerThreadPriority();

parentPort?.on("message", ({ id, kind, input }: WorkerRequest) => {
  parentPort?.postMessage({ id, answer: doJob(kind, input) } satisfies WorkerAnswer);
});
