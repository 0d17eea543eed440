// What the test commands have in common: they run tools with the Node of the dependencies, count tests and print the
// closing line.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const node = ownNode() ?? process.execPath;
const compileCache = join(modules, ".cache", "fanal");
/** Every run adds thousands of entries for files that no later run loads. */
const MAX_COMPILE_CACHE_FILES = 30_000;

/** Runs a script of the checkout. Resolves to whether it succeeded. */
function run(script, args) {
  const child = spawn(node, [join(root, script), ...args], {
    cwd: root,
    env: {
      ...process.env,
      PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH ?? ""}`,
      // Inherited by worker threads and programs that tests start, which would otherwise compile everything again.
      NODE_COMPILE_CACHE: compileCache,
    },
    stdio: "inherit",
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      process.stderr.write(`fanal: ${node} cannot be started: ${error.message}.\n`);
      resolve(false);
    });
    child.on("close", (status) => resolve(status === 0));
  });
}

function trimCompileCache() {
  if (!existsSync(compileCache)) return;
  const files = readdirSync(compileCache, { recursive: true });
  if (files.length > MAX_COMPILE_CACHE_FILES) rmSync(compileCache, { recursive: true });
}

/** Runs vitest without counting. */
export function runVitest(args) {
  return run("node_modules/vitest/vitest.mjs", ["run", ...args]);
}

/**
 * Runs vitest and reads what scripts/summary-reporter.ts counted; there is no summary if vitest did not get that far.
 */
export async function runTests(args) {
  trimCompileCache();
  const folder = mkdtempSync(join(tmpdir(), "fanal-test-"));
  const output = join(folder, "summary.json");
  try {
    const reporters = ["--reporter=default", "--reporter=./scripts/summary-reporter.ts"];
    const succeeded = await runVitest([...reporters, `--outputFile.summary=${output}`, ...args]);
    return { succeeded, summary: existsSync(output) ? JSON.parse(readFileSync(output, "utf8")) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the fast tier, with type check and lint beside it unless the options name some of the tests. */
export async function runFastTier(options) {
  const isPart = options.some((option) => !option.startsWith("-"));
  const [passedChecks, tier] = await Promise.all([isPart || run("scripts/lint.ts", ["--types"]), runTests(options)]);
  return { ...tier, passedChecks };
}

/** Prints why tests were skipped and how many passed, and sets the exit code. */
export function conclude(tiers) {
  const passedChecks = tiers.every((tier) => tier.passedChecks !== false);
  if (!passedChecks) {
    process.stderr.write('fanal: type check or lint failed; "npm run lint -- --types" repeats the messages above.\n');
  }
  if (tiers.some(({ summary }) => summary === undefined)) {
    process.stderr.write("fanal: the tests ended without a summary.\n");
    process.exitCode = 1;
    return;
  }
  const sum = (name) => tiers.reduce((total, { summary }) => total + summary[name], 0);
  const [passed, failed, skipped] = ["passed", "failed", "skipped"].map(sum);
  const succeeded = tiers.every((tier) => tier.succeeded);
  if (!succeeded && failed === 0) {
    process.stderr.write("fanal: no test failed, but the test run did; its output above says why.\n");
  }
  const reasons = new Map();
  for (const { summary } of tiers) {
    for (const [reason, count] of Object.entries(summary.skipReasons)) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    }
  }
  for (const [reason, count] of reasons) process.stdout.write(`Skipped ${count}: ${reason}\n`);
  const tail = skipped > 0 ? `, ${skipped} skipped` : "";
  process.stdout.write(`Tests: ${passed} passed, ${failed} failed${tail}\n`);
  process.exitCode = passedChecks && succeeded && failed === 0 && passed + skipped > 0 ? 0 : 1;
}
