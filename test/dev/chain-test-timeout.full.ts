import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
const LIMIT_MS = 100_000;

/** A test that waits far too long for the chain, and one after it. */
const tests = (library: string) => `
import assert from "node:assert/strict";
import { chainTest } from ${JSON.stringify(pathToFileURL(join(ROOT, "src/library/testing", library)))};

const test = chainTest({ validators: 8, evm: false }, (chain) => chain.advance({ slots: 2 }));
test("loads the libraries", { timeout: 60_000 }, async () => {});
test("waits too long", { timeout: 300 }, async ({ chain }) => {
  await chain.advanceUntil({ epoch: 8000 });
});
test("starts from the prepared chain", { timeout: 60_000 }, async ({ chain }) => {
  const { slot } = await chain.client.getChainTime();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual([slot, (await chain.client.getChainTime()).slot], ["2", "2"]);
});
`;

function run(args: readonly string[], cwd: string) {
  const env = { PATH: process.env.PATH, NO_COLOR: "1" };
  const child = spawnSync(process.execPath, args, { cwd, env, encoding: "utf8", timeout: LIMIT_MS });
  return { status: child.status, output: child.stdout + child.stderr };
}

it("vitest reports a test that times out, and runs the next one", () => {
  const directory = tempDirectory();
  writeFileSync(join(directory, "a.test.mts"), tests("vitest.ts"));
  const modules = ["--experimental.viteModuleRunner=false", "--experimental.nodeLoader=false"];
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { status, output } = run([vitest, "run", "--root", directory, "--reporter=verbose", ...modules], directory);
  expect(status, output).toBe(1);
  expect(output).toContain("Test timed out in 300ms.");
  expect(output).toContain("1 failed | 2 passed");
});

it("node:test reports a test that times out, and stops its chain", () => {
  const directory = tempDirectory();
  writeFileSync(join(directory, "a.test.mts"), tests("node-test.ts"));
  const { status, output } = run(["--test", "--test-reporter=tap", "a.test.mts"], directory);
  expect(status, output).toBe(1);
  expect(output).toContain("test timed out after 300ms");
  expect(output).toMatch(/# pass 2\n# fail 0\n# cancelled 1/);
});
