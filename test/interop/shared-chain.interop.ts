import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ForkName } from "@lodestar/params";
import { it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { feedBlobs } from "../support/execution-layer/blob-feed.ts";
import { ExecutionLayer } from "../support/execution-layer/execution-layer.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { serveExecutionLayer } from "../support/execution-layer/http-server.ts";
import { Sender } from "../support/execution-layer/transactions.ts";
import { testWithCurrentLodestar } from "./lodestar-install.ts";
import { finalizeTogether } from "./shared-chain.ts";

const SECRET = new Uint8Array(32).fill(7);

it("a chain with half of its validators on Lodestar is finalized by both nodes", async () => {
  await finalizeTogether(["--fork", "altair"]);
});

for (const { fork, counts } of [
  { fork: ForkName.fulu, counts: undefined },
  { fork: ForkName.fulu, counts: { min: 1, max: 2 } },
  { fork: ForkName.electra, counts: { min: 1, max: 2 } },
] as const) {
  const title = `a chain of ${fork} ${counts ? "with" : "without"} blobs`;
  testWithCurrentLodestar(
    `${title} of which a current Lodestar runs one half of the validators is finalized by both nodes, over one execution layer`,
    async (install) => {
      const genesisTime = Math.floor(Date.now() / 1000);
      const untilPrague = { shanghai: genesisTime, cancun: genesisTime, prague: genesisTime };
      const forks = fork === ForkName.fulu ? { ...untilPrague, osaka: genesisTime } : untilPrague;
      const genesis = executionGenesis({ timestamp: genesisTime, forks });
      const layer = await ExecutionLayer.open(genesis);
      const blobs = counts && (await feedBlobs(layer, { sender: new Sender(genesis.config.chainId), fork, counts }));
      const { url, close } = await serveExecutionLayer(layer, { secret: SECRET });
      onTestFinished(close);
      const secretFile = join(tempDirectory(), "jwt.hex");
      writeFileSync(secretFile, Buffer.from(SECRET).toString("hex"), { mode: 0o600 });
      await finalizeTogether(
        ["--fork", fork, "--genesis-time", String(genesisTime), "--el", url, "--jwt-secret", secretFile],
        { install, execution: { url, secretFile }, blobs },
      );
    },
  );
}
