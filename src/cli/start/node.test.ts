import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { createLogger } from "../../log/pino-logger.ts";
import { EXIT_CODES } from "../exit.ts";
import { settingsInTemporaryDirectory } from "../flags/settings.test-support.ts";
import { runNode } from "./node.ts";

const { folder, node } = settingsInTemporaryDirectory();

it("validators with well-known keys run on the network of a dev chain only", async () => {
  const log = createLogger({ format: "text", spec: "WARN", destination: { write() {} } });
  const options = node(["--network", "sepolia", "--dev-validators", "0-3", "--data-dir", "data", "--no-p2p"]);
  await expect(runNode(options, log.logger, log)).rejects.toMatchObject({
    exitCode: EXIT_CODES.usage,
    message:
      '--dev-validators requires the network of a dev chain, but sepolia is not one. "fanal dev" writes its directory.',
  });
  // What is refused this early has not even made the directory.
  expect(readdirSync(folder)).toEqual([]);
});
