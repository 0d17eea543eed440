// Runs in a worker thread. The library computes in threads of its own, so that one long job holds up no other.
import { parentPort } from "node:worker_threads";
import { DasContextJs } from "@crate-crypto/node-eth-kzg";
import { KZG_JOBS, type KzgAnswer, type KzgJobs, type KzgRequest } from "./kzg-jobs.ts";
import { inOneBuffer } from "./one-buffer.ts";

const context = DasContextJs.create({ usePrecomp: true });

parentPort?.on("message", async ({ id, kind, input }: KzgRequest) => {
  try {
    const { record, buffer } = inOneBuffer(await answerTo(kind, input));
    parentPort?.postMessage({ id, answer: record } satisfies KzgAnswer, [buffer]);
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ id, failure } satisfies KzgAnswer);
  }
});

function answerTo<Kind extends keyof KzgJobs>(
  kind: Kind,
  input: KzgJobs[Kind]["input"],
): Promise<KzgJobs[Kind]["answer"]> {
  return KZG_JOBS[kind](context, input);
}
