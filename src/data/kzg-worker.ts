// Runs in a worker thread. The library could compute in threads of its own, but then it gives back the memory of all threads that have
// loaded it in the one that did so first, where it crashes the process.
import { parentPort, workerData } from "node:worker_threads";
import { DasContextJs } from "@crate-crypto/node-eth-kzg";
import { KZG_JOBS, type KzgAnswer, type KzgJobs, type KzgRequest } from "./kzg-jobs.ts";
import type { KzgWorkerData } from "./kzg-thread.ts";
import { inOneBuffer } from "./one-buffer.ts";

const { isForProofs } = workerData as KzgWorkerData;
const context = DasContextJs.create({ usePrecomp: isForProofs });

parentPort?.on("message", ({ kind, input }: KzgRequest) => {
  try {
    const { record, buffer } = inOneBuffer(answerTo(kind, input));
    parentPort?.postMessage({ answer: record } satisfies KzgAnswer, [buffer]);
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ failure } satisfies KzgAnswer);
  }
});

function answerTo<Kind extends keyof KzgJobs>(kind: Kind, input: KzgJobs[Kind]["input"]): KzgJobs[Kind]["answer"] {
  return KZG_JOBS[kind](context, input);
}
