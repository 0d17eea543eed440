// Runs in a worker thread. It loads the signature library and nothing else of the node, so that it starts in
// milliseconds and needs neither preset nor configuration.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../runtime/thread-priority.ts";
import { doJob } from "./jobs.ts";
import type { WorkerAnswer, WorkerOptions, WorkerRequest } from "./worker-pool.ts";

if ((workerData as WorkerOptions | null)?.isBackground) lowerThreadPriority();

parentPort?.on("message", ({ id, kind, input }: WorkerRequest) => {
  parentPort?.postMessage({ id, answer: doJob(kind, input) } satisfies WorkerAnswer);
});
