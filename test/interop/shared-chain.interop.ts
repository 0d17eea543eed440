import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { ExecutionLayer } from "../support/execution-layer/execution-layer.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { serveExecutionLayer } from "../support/execution-layer/http-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWithCurrentLodestar } from "./lodestar-install.ts";
import { finalizeTogether } from "./shared-chain.ts";

const SECRET = new Uint8Array(32).fill(7);

test("a chain of which Lodestar runs one half of the validators is finalized by both nodes", async () => {
  await finalizeTogether(["--fork", "altair"]);
});

testWithCurrentLodestar(
  "a fulu chain of which a current Lodestar runs one half of the validators is finalized by both nodes, over one execution layer",
  async (install) => {
    const genesisTime = Math.floor(Date.now() / 1000);
    const forks = { shanghai: genesisTime, cancun: genesisTime, prague: genesisTime, osaka: genesisTime };
    const layer = await ExecutionLayer.open(executionGenesis({ timestamp: genesisTime, forks }));
    const { url, close } = await serveExecutionLayer(layer, { secret: SECRET });
    onTestFinished(close);
    const secretFile = join(tempDirectory(), "jwt.hex");
    writeFileSync(secretFile, Buffer.from(SECRET).toString("hex"));
    await finalizeTogether(
      ["--fork", "fulu", "--genesis-time", String(genesisTime), "--el", url, "--jwt-secret", secretFile],
      { install, execution: { url, secretFile } },
    );
  },
);
