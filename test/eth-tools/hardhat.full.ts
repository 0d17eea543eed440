import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toolModules, toolPath } from "../package/tools.ts";
import { INSTALL_LIMIT_MS, SampleProject, startEthPort } from "./sample-project.ts";

it("passes the tests of a Hardhat project as an external network", { timeout: INSTALL_LIMIT_MS }, async (context) => {
  const hardhat = toolPath("hardhat", context);
  const project = new SampleProject("hardhat", { ETH_RPC_URL: await startEthPort() });
  symlinkSync(toolModules("hardhat", context), join(project.directory, "node_modules"));
  const output = await project.run(process.execPath, hardhat, "test", "nodejs", "--network", "external");
  expect(output).toContain("8 passing");
  expect(output).not.toContain("failing");
});
