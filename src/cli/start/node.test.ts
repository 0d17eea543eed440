import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { settingsInTemporaryDirectory } from "../../../test/support/cli/flags/settings.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { EXIT_CODES } from "../exit.ts";
import { runNode } from "./node.ts";

const { folder, node } = settingsInTemporaryDirectory();

it("rejects --dev-validators on a network that is not a dev chain", async () => {
  const log = createLogger({ format: "text", spec: "WARN", destination: { write() {} } });
  const options = node(["--network", "sepolia", "--dev-validators", "0-3", "--data-dir", "data", "--no-p2p"]);
  await expect(runNode(options, log.logger, log)).rejects.toMatchObject({
    exitCode: EXIT_CODES.usage,
    message:
      '--dev-validators requires the network of a dev chain, but "sepolia" is not one. "fanal dev" writes its directory.',
  });
  // The data directory has not been created.
  expect(readdirSync(folder)).toEqual([]);
});
