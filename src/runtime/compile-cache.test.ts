import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { tempDirectory } from "../../test/support/directories/temp-directory.ts";

const module = fileURLToPath(new URL("./compile-cache.ts", import.meta.url));

/** Runs a program that enables the cache and prints whether the process and a thread use it. */
function run(environment: NodeJS.ProcessEnv): string {
  const thread = `const { getCompileCacheDir } = require("node:module");
    require("node:worker_threads").parentPort.postMessage(getCompileCacheDir());`;
  const program = `import { getCompileCacheDir } from "node:module";
    import { Worker } from "node:worker_threads";
    import { enableCompileCache, threadEnvironment } from ${JSON.stringify(module)};
    enableCompileCache();
    const worker = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [], env: threadEnvironment() });
    const ofProcess = getCompileCacheDir();
    worker.on("message", (ofThread) => console.log(ofProcess !== undefined, ofThread === ofProcess));`;
  const env = { ...process.env, ...environment };
  for (const name of ["NODE_V8_COVERAGE", "NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"]) {
    if (!(name in environment)) delete env[name];
  }
  return spawnSync(process.execPath, ["--input-type=module", "--eval", program], { env, encoding: "utf8" }).stdout;
}

it("is used by the process and its threads", () => {
  const directory = tempDirectory();
  expect(run({ NODE_COMPILE_CACHE: directory })).toBe("true true\n");
  expect(readdirSync(directory)).toHaveLength(1);
});

it("is off while coverage is measured, and where the user turns it off", () => {
  expect(run({ NODE_V8_COVERAGE: tempDirectory() })).toBe("false true\n");
  expect(run({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBe("false true\n");
});
