// Runs in a worker thread. It loads the signature library and nothing else of the node, so that it starts in
// milliseconds and needs neither preset nor configuration.
import { parentPort } from "node:worker_threads";
import { unpackSets } from "./packed-sets.ts";
import { verifyBatch, verifyEachInBatch } from "./verify-batch.ts";
import type { WorkerAnswer, WorkerRequest } from "./worker-pool.ts";

parentPort?.on("message", ({ id, question, packed }: WorkerRequest) => {
  const sets = unpackSets(packed);
  const verdicts = question === "all" ? [verifyBatch(sets)] : verifyEachInBatch(sets);
  parentPort?.postMessage({ id, verdicts } satisfies WorkerAnswer);
});
