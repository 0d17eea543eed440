import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toolModules } from "../package/tools.ts";
import { compileVault, INSTALL_LIMIT_MS, SampleProject, startEthPort } from "./sample-project.ts";

it("passes the tests of a project with web3.js", { timeout: INSTALL_LIMIT_MS }, async (context) => {
  const modules = toolModules("web3", context);
  const project = new SampleProject("web3", { ETH_RPC_URL: await startEthPort() });
  symlinkSync(modules, join(project.directory, "node_modules"));
  writeFileSync(join(project.directory, "Vault.json"), JSON.stringify(compileVault()));
  const output = await project.run(process.execPath, "--test", "--test-reporter=tap", "vault.test.mjs");
  expect(output).toContain("# pass 8");
  expect(output).toContain("# fail 0");
});
