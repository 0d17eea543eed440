import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { Program } from "../support/program/program.ts";
import { EXAMPLES, runExamples } from "./examples.ts";
import { type InstalledPackage, installPackage, runNpm } from "./installed-package.ts";

const directory = removableDirectory();
let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage(directory.path);
});
afterAll(() => directory.remove());

it("runs all examples", () => {
  runExamples(installed.project, EXAMPLES);
});

it("is the program that npx runs", async () => {
  expect(await runNpm(["exec", "--offline", "--", "fanal", "-V"], installed.project)).toBe(
    `fanal ${installed.manifest.version}\n`,
  );
});

it("serves a dev chain", async () => {
  const dataDir = join(installed.project, "data");
  const bin = join(installed.root, "bin", "fanal.js");
  const program = await Program.dev(["--data-dir", dataDir, "--validators", "8", "--warmup-epochs", "1"], {
    bin,
    env: { FANAL_ETH_RPC: "false" },
  });
  await program.untilLine(/Dev chain is running/);
  expect(Number((await program.call("getChainHead")).head_slot)).toBeGreaterThanOrEqual(8);
  expect(program.complaints).toEqual([]);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});
