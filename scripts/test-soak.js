// Runs the long versions of tests: npm run test:soak -- [PART OF A FILE NAME...]. Their lengths are in the variables SOAK_….
import { spawnSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const node = ownNode() ?? process.execPath;
const vitest = [join(modules, "vitest", "vitest.mjs"), "run", "--config", "test/soak/vitest.config.ts"];

const { error, status } = spawnSync(node, [...vitest, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH ?? ""}` },
  stdio: "inherit",
});
if (error) process.stderr.write(`fanal: ${node} cannot be started: ${error.message}.\n`);
process.exitCode = status ?? 1;
