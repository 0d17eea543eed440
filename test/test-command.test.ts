import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { tempDirectory } from "./support/temp-directory.ts";

const ROOT = join(import.meta.dirname, "..");

/** Stands in for a tool: notes that it ran, and writes the report of a test that passed where one is wanted. */
const TOOL = `
import { appendFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
const name = basename(process.argv[1]);
appendFileSync("ran.txt", [name, ...process.argv.slice(2).filter((option) => option === "--types")].join(" ") + "\\n");
const report = process.argv.find((option) => option.startsWith("--outputFile.json="))?.split("=")[1];
if (report) writeFileSync(report, JSON.stringify({ numPassedTests: 1, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }));
if (process.env.FAILING === name) process.exitCode = 1;
`;

describe("npm test", () => {
  let root: string;
  beforeEach(() => {
    root = tempDirectory();
    writeFileSync(join(root, "package.json"), JSON.stringify({ type: "module" }));
    for (const tool of ["scripts/lint.ts", "node_modules/vitest/vitest.mjs"]) {
      mkdirSync(dirname(join(root, tool)), { recursive: true });
      writeFileSync(join(root, tool), TOOL);
    }
    for (const script of ["scripts/test.js", "bin/own-node.js"]) cpSync(join(ROOT, script), join(root, script));
  });

  function run(args: string[], env: Record<string, string> = {}) {
    const command = [join(root, "scripts/test.js"), ...args];
    const { status, stdout } = spawnSync(process.execPath, command, {
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
    const ran = existsSync(join(root, "ran.txt")) ? readFileSync(join(root, "ran.txt"), "utf8").trim().split("\n") : [];
    ran.sort();
    return { status, ran, lastLine: stdout.trim().split("\n").at(-1) };
  }

  it("checks types, lints and tests", () => {
    expect(run([])).toEqual({
      status: 0,
      ran: ["lint.ts --types", "vitest.mjs"],
      lastLine: "Tests: 1 passed, 0 failed",
    });
    expect(run(["--retry=1"]).ran).toEqual(["lint.ts --types", "lint.ts --types", "vitest.mjs", "vitest.mjs"]);
  });

  it("only tests when it is told which tests", () => {
    expect(run(["src/chain"])).toEqual({ status: 0, ran: ["vitest.mjs"], lastLine: "Tests: 1 passed, 0 failed" });
  });

  it("fails when a check does, whatever the tests say", () => {
    expect(run([], { FAILING: "lint.ts" })).toEqual({
      status: 1,
      ran: ["lint.ts --types", "vitest.mjs"],
      lastLine: "Tests: 1 passed, 0 failed",
    });
  });
});

it("npm run test:soak runs the long tests with the same Node", () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(ROOT, "scripts/test-soak.js"), "--passWithNoTests", "no-file-has-this-name"],
    { encoding: "utf8" },
  );
  expect(stdout).toContain("No test files found");
  expect(status).toBe(0);
});
