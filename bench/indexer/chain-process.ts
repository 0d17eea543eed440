/** Serves a dev chain with a long history over JSON-RPC. The chain is reopened, so its states are not in memory. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { parentGone, report, reportCpuOnRequest } from "../support/child.ts";
import { openDevChain } from "../support/dev-chain.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

const options = { validators: 64, forks: [{ fork: "electra", epoch: 0 }] } as const;

const { epochs } = await new Promise<{ epochs: number }>((resolve) => {
  process.once("message", resolve);
  report({ ready: true });
});

await withTempDirectory(async (directory) => {
  const made = await openDevChain(directory, { ...options, epochs });
  await made.devChain.clock.advanceTo(epochs * SLOTS_PER_EPOCH);
  await made.close();
  const { node, close } = await openDevChain(directory, { ...options, epochs });
  const { jsonRpcUrl } = await node.serve({ jsonRpc: { host: "127.0.0.1", port: 0 } });
  reportCpuOnRequest();
  report({ url: jsonRpcUrl, slotsPerEpoch: SLOTS_PER_EPOCH });
  await parentGone();
  await close();
});
