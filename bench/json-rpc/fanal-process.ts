/** A dev chain with some history that stands still, behind the JSON-RPC server. Tells its parent the address. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { answerCpuQuestions, parentGone, report } from "../support/child.ts";
import { withDevChain } from "../support/dev-chain.ts";

const EPOCHS = 5;

await withDevChain({ validators: 64, forks: [], epochs: EPOCHS }, async ({ devChain, node }) => {
  await devChain.clock.advanceTo(EPOCHS * SLOTS_PER_EPOCH);
  const { jsonRpcUrl } = await node.serve({ jsonRpc: { host: "127.0.0.1", port: 0 } });
  answerCpuQuestions();
  report({ port: Number(new URL(jsonRpcUrl!).port) });
  await parentGone();
});
