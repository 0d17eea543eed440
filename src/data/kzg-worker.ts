// Runs in a worker thread. The library computes in threads of its own, so that one long job holds up no other.
import { parentPort } from "node:worker_threads";
import { DasContextJs } from "@crate-crypto/node-eth-kzg";
import { KZG_JOBS, type KzgAnswer, type KzgJobs, type KzgRequest } from "./kzg-jobs.ts";

const context = DasContextJs.create({ usePrecomp: true });

parentPort?.on("message", async ({ id, kind, input }: KzgRequest) => {
  parentPort?.postMessage(await answerOf(id, kind, input));
});

async function answerOf<Kind extends keyof KzgJobs>(
  id: number,
  kind: Kind,
  input: KzgJobs[Kind]["input"],
): Promise<KzgAnswer> {
  try {
    return { id, answer: await KZG_JOBS[kind](context, input) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}
