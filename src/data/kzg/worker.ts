// Runs in a worker thread.
import { parentPort, workerData } from "node:worker_threads";
import type { KzgBackend } from "./backend.ts";
import { KZG_JOBS, type KzgJobs, type KzgRequest, type KzgWorkerData, type KzgWorkerMessage } from "./jobs.ts";
import { loadBackend } from "./load-backend.ts";
import { packBuffers } from "./pack-buffers.ts";

const { choice, precompute } = workerData as KzgWorkerData;

function post(message: KzgWorkerMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function serve(backend: KzgBackend): void {
  parentPort?.on("message", ({ kind, input }: KzgRequest) => {
    try {
      const { record, buffer } = packBuffers(runJob(backend, kind, input));
      post({ result: record }, [buffer]);
    } catch (error) {
      post({ failure: reasonOf(error) });
    }
  });
}

function runJob<Kind extends keyof KzgJobs>(
  backend: KzgBackend,
  kind: Kind,
  input: KzgJobs[Kind]["input"],
): KzgJobs[Kind]["result"] {
  return KZG_JOBS[kind](backend, input);
}

try {
  const { open, ...loaded } = await loadBackend(choice);
  post({ loaded });
  // The trusted setup takes seconds to load. Until then, requests queue in the port.
  serve(open({ precompute }));
} catch (error) {
  post({ unavailable: reasonOf(error) });
}
