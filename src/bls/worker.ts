// Runs in a worker thread. It loads the signature library and nothing else of the node, so that it starts in
// milliseconds and needs neither preset nor configuration.
import { parentPort } from "node:worker_threads";
import { doJob } from "./jobs.ts";
import type { WorkerAnswer, WorkerRequest } from "./worker-pool.ts";

parentPort?.on("message", ({ id, kind, input }: WorkerRequest) => {
  parentPort?.postMessage({ id, answer: doJob(kind, input) } satisfies WorkerAnswer);
});
