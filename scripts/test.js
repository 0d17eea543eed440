// Type check and lint beside the tests, with the Node that is installed beside the other dependencies; only the tests
// when it is told which of them. The last line counts the tests.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const node = ownNode() ?? process.execPath;
const options = process.argv.slice(2);
const compiled = join(modules, ".cache", "fanal");
const environment = {
  ...process.env,
  PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH ?? ""}`,
  // Also for the threads that tests start, which would else compile the servers anew each time.
  NODE_COMPILE_CACHE: compiled,
};

/** Each run adds some thousand files of copies of the tree that tests make, which nobody looks for again. */
const MOST_COMPILED_FILES = 30_000;

function dropOldCompiled() {
  if (!existsSync(compiled)) return;
  if (readdirSync(compiled, { recursive: true }).length > MOST_COMPILED_FILES) rmSync(compiled, { recursive: true });
}

/** Runs one of the tools and says whether it succeeded. */
function run(script, args) {
  const child = spawn(node, [join(root, script), ...args], { cwd: root, env: environment, stdio: "inherit" });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      process.stderr.write(`fanal: ${node} cannot be started: ${error.message}.\n`);
      resolve(false);
    });
    child.on("close", (status) => resolve(status === 0));
  });
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** A file that could not even be loaded reports no failed test, so it counts as one itself. */
function countBrokenFiles(report) {
  const isBroken = (file) =>
    file.status === "failed" && !file.assertionResults.some((assertion) => assertion.status === "failed");
  return report.testResults.filter(isBroken).length;
}

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "fanal-test-"));
  const output = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
    const succeeded = await run("node_modules/vitest/vitest.mjs", ["run", ...reporters, ...options]);
    return { succeeded, report: readReport(output) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

dropOldCompiled();
const isPart = options.some((option) => !option.startsWith("-"));
// At once, since neither keeps all cores busy.
const [passedChecks, { succeeded, report }] = await Promise.all([
  isPart || run("scripts/lint.ts", ["--types"]),
  runTests(),
]);
if (!passedChecks) {
  process.stderr.write(
    'fanal: the type check or the lint failed; "npm run lint -- --types" says again what is above.\n',
  );
}
if (report === undefined) {
  process.stderr.write("fanal: the tests ended without a report.\n");
  process.exit(1);
}
const failed = report.numFailedTests + countBrokenFiles(report);
const skipped = report.numPendingTests + report.numTodoTests;
if (!succeeded && failed === 0) {
  process.stderr.write("fanal: no test failed, but the test run did; its output above says why.\n");
}
const tail = skipped > 0 ? `, ${skipped} skipped` : "";
process.stdout.write(`Tests: ${report.numPassedTests} passed, ${failed} failed${tail}\n`);
process.exitCode = passedChecks && succeeded && failed === 0 ? 0 : 1;
