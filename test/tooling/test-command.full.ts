import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { summarize } from "../../scripts/summary-reporter.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * Replaces a tool: records that it ran, with which tier, and writes the summary of a run where one is expected. The
 * summary of the fast tier is in FAST, that of the full tier in FULL.
 */
const TOOL = `
import { appendFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
const name = basename(process.argv[1]);
const options = process.argv.slice(2);
const isFull = options.includes("test/full/vitest.config.ts");
appendFileSync("ran.txt", [name, ...options.filter((option) => option === "--types"), ...(isFull ? ["full"] : [])].join(" ") + "\\n");
const output = options.find((option) => option.startsWith("--outputFile.summary="))?.split("=")[1];
const summary = process.env[isFull ? "FULL" : "FAST"] ?? '{"passed":1,"failed":0,"skipped":0,"skipReasons":{}}';
if (output) writeFileSync(output, summary);
if (process.env.FAILING === name) process.exitCode = 1;
`;

const SCRIPTS = ["scripts/test.js", "scripts/test-full.js", "scripts/test-runner.js", "bin/own-node.js"];

let root: string;
beforeEach(() => {
  root = tempDirectory();
  writeFileSync(join(root, "package.json"), JSON.stringify({ type: "module" }));
  for (const tool of ["scripts/lint.ts", "node_modules/vitest/vitest.mjs"]) {
    mkdirSync(dirname(join(root, tool)), { recursive: true });
    writeFileSync(join(root, tool), TOOL);
  }
  for (const script of SCRIPTS) cpSync(join(ROOT, script), join(root, script));
});

function run(script: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, script), ...args], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  const ran = existsSync(join(root, "ran.txt")) ? readFileSync(join(root, "ran.txt"), "utf8").trim().split("\n") : [];
  ran.sort();
  return { status, ran, lines: stdout.trim().split("\n"), stderr };
}

describe("npm test", () => {
  const test = (args: string[], env?: Record<string, string>) => run("scripts/test.js", args, env);

  it("checks types, lints and tests", () => {
    const { status, ran, lines } = test([]);
    expect({ status, ran, lines }).toEqual({
      status: 0,
      ran: ["lint.ts --types", "vitest.mjs"],
      lines: ["Tests: 1 passed, 0 failed"],
    });
    expect(test(["--bail=1"]).ran).toEqual(["lint.ts --types", "lint.ts --types", "vitest.mjs", "vitest.mjs"]);
  });

  it("only tests when tests are named", () => {
    expect(test(["src/chain"])).toMatchObject({ status: 0, ran: ["vitest.mjs"], lines: ["Tests: 1 passed, 0 failed"] });
  });

  it("fails when a check fails and all tests pass", () => {
    const { status, lines, stderr } = test([], { FAILING: "lint.ts" });
    expect({ status, lines }).toEqual({ status: 1, lines: ["Tests: 1 passed, 0 failed"] });
    expect(stderr).toContain("type check or lint failed");
  });

  it("fails when vitest fails without a failed test, and when no test ran", () => {
    expect(test([], { FAILING: "vitest.mjs" })).toMatchObject({ status: 1, lines: ["Tests: 1 passed, 0 failed"] });
    const FAST = '{"passed":0,"failed":0,"skipped":0,"skipReasons":{}}';
    expect(test([], { FAST })).toMatchObject({ status: 1, lines: ["Tests: 0 passed, 0 failed"] });
  });

  it("prints why tests were skipped before its last line", () => {
    const FAST = '{"passed":1,"failed":0,"skipped":3,"skipReasons":{"no anvil":2,"no Redis":1}}';
    expect(test([], { FAST })).toMatchObject({
      status: 0,
      lines: ["Skipped 2: no anvil", "Skipped 1: no Redis", "Tests: 1 passed, 0 failed, 3 skipped"],
    });
  });
});

describe("npm run test:full", () => {
  it("runs both tiers, and adds up their tests and skips", () => {
    const { status, ran, lines } = run("scripts/test-full.js", [], {
      FAST: '{"passed":1,"failed":0,"skipped":1,"skipReasons":{"no anvil":1}}',
      FULL: '{"passed":3,"failed":1,"skipped":2,"skipReasons":{"no anvil":1,"no browser":1}}',
    });
    expect({ status, ran, lines }).toEqual({
      status: 1,
      ran: ["lint.ts --types", "vitest.mjs", "vitest.mjs full"],
      lines: ["Skipped 2: no anvil", "Skipped 1: no browser", "Tests: 4 passed, 1 failed, 3 skipped"],
    });
  });
});

it("the summary counts skips by reason, and a file that cannot be loaded as a failed test", () => {
  const module = (state: string, ...results: object[]) => {
    return { state: () => state, children: { allTests: () => results.map((result) => ({ result: () => result })) } };
  };
  const modules = [
    module("passed", { state: "passed" }, { state: "skipped", note: "no anvil" }, { state: "skipped" }),
    module("failed", { state: "failed" }, { state: "passed" }),
    module("failed"),
    module("skipped", { state: "skipped", note: "no anvil" }),
  ];
  expect(summarize(modules as never)).toEqual({
    passed: 2,
    failed: 2,
    skipped: 3,
    skipReasons: { "no anvil": 2, "no reason given": 1 },
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
