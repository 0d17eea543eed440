// Runs in a worker thread.
import { parentPort, workerData } from "node:worker_threads";
import { Channel } from "../../threads/channel.ts";
import { Moved } from "../../threads/transfer.ts";
import type { KzgBackend } from "./backend.ts";
import { KZG_JOBS, type KzgJobs, type KzgWorkerData } from "./jobs.ts";
import { loadBackend } from "./load-backend.ts";
import { packBuffers } from "./pack-buffers.ts";

if (parentPort === null) throw new Error("This module must run in a worker thread");
const { choice, precompute } = workerData as KzgWorkerData;
const backend = Promise.withResolvers<KzgBackend>();
const channel = new Channel(parentPort, {
  handle: async (kind, [input]) => {
    const { record, buffer } = packBuffers(runJob(await backend.promise, kind as keyof KzgJobs, input as never));
    return new Moved(record, buffer);
  },
});

function runJob<Kind extends keyof KzgJobs>(
  backend: KzgBackend,
  kind: Kind,
  input: KzgJobs[Kind]["input"],
): KzgJobs[Kind]["result"] {
  return KZG_JOBS[kind](backend, input);
}

try {
  const { open, ...loaded } = await loadBackend(choice);
  channel.notify("loaded", [loaded]);
  // The trusted setup takes seconds to load. Until then, calls wait.
  backend.resolve(open({ precompute }));
} catch (error) {
  channel.notify("unavailable", [error instanceof Error ? error.message : String(error)]);
}
