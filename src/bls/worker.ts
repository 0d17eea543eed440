// Worker thread. Loads only the signature library, so it starts in milliseconds and needs no preset or configuration.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../runtime/thread-priority.ts";
import { Channel } from "../threads/channel.ts";
import { BLS_ERRORS } from "./errors.ts";
import { doJob, type Jobs } from "./jobs.ts";
import type { WorkerOptions } from "./worker-pool.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
if ((workerData as WorkerOptions | null)?.isBackground) lowerThreadPriority();
new Channel(parentPort, {
  handle: (kind, [input]) => doJob(kind as keyof Jobs, input as Jobs[keyof Jobs]["input"]),
  errors: BLS_ERRORS,
});
