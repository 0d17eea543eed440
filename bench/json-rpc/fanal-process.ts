/** Serves a paused dev chain with some history over JSON-RPC and REST. Reports the ports to its parent. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { parentGone, report, reportCpuOnRequest } from "../support/child.ts";
import { withDevChain } from "../support/dev-chain.ts";

const EPOCHS = 5;

await withDevChain({ validators: 64, forks: [], epochs: EPOCHS }, async ({ devChain, node }) => {
  await devChain.clock.advanceTo(EPOCHS * SLOTS_PER_EPOCH);
  const address = { host: "127.0.0.1", port: 0 };
  const { jsonRpcUrl, restUrl } = await node.serve({ jsonRpc: address, rest: address });
  reportCpuOnRequest();
  report({ port: Number(new URL(jsonRpcUrl!).port), restPort: Number(new URL(restUrl!).port) });
  await parentGone();
});
