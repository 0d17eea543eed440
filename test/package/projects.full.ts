import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { CONSUMER } from "./consumer.ts";
import { NODE, packPackage, runNpm } from "./installed-package.ts";
import { toolPath } from "./tools.ts";

const PNPM_STORE = fileURLToPath(new URL("../../node_modules/.cache/pnpm-store", import.meta.url));
const INSTALL_LIMIT_MS = 600_000;
const RUN_LIMIT_MS = 120_000;

/** Breaks `@lodestar/types` 1.46.0 when the two are installed side by side. */
const NEWER_SSZ = "@chainsafe/ssz@1.9.0";

/** Uses a chain in-process, over HTTP, WebSocket and REST. */
const EXERCISE = `
async function exercise() {
  new ListCompositeType(new ByteVectorType(32), 8);
  const chain = await startDevChain({ rpc: 0, rest: 0 });
  const { finalized_epoch } = await chain.client.dev_advance({ until: "finalized" });
  const { head_slot } = await createClient({ url: chain.url }).getChainHead();
  const socket = createClient({ url: chain.url.replace("http", "ws") });
  const announced = Promise.withResolvers();
  await socket.subscribe(["head"], ({ data }) => announced.resolve(data.slot));
  await socket.dev_advance({ slots: 1 });
  const event_slot = await announced.promise;
  await socket.close();
  const { status } = await fetch(chain.restUrl + "/eth/v1/node/version");
  await chain.stop();
  return JSON.stringify({ finalized_epoch, head_slot, event_slot, status });
}
`;
const EXPECTED = JSON.stringify({ finalized_epoch: "2", head_slot: "32", event_slot: "33", status: 200 });

const ES_MODULE = `
import { ByteVectorType, ListCompositeType } from "@chainsafe/ssz";
import { startDevChain } from "fanal";
import { createClient } from "fanal/client";
${EXERCISE}`;

const COMMON_JS = `
const { ByteVectorType, ListCompositeType } = require("@chainsafe/ssz");
const { startDevChain } = require("fanal");
const { createClient } = require("fanal/client");
${EXERCISE}`;

const directory = removableDirectory();
let tarball: string;
/** A project with the package, the other ssz and vitest, installed by npm. */
let project: string;

beforeAll(async () => {
  ({ tarball } = await packPackage(directory.path));
  project = createProject("npm");
  await runNpm(["install", "--prefer-offline", "--no-audit", "--no-fund", tarball, NEWER_SSZ, "vitest@5.1.0"], project);
}, INSTALL_LIMIT_MS);
afterAll(() => directory.remove());

function createProject(name: string): string {
  const path = join(directory.path, name);
  mkdirSync(path);
  writeFileSync(join(path, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  return path;
}

/** Writes a file into a project and runs a program on it. Returns the program's output, once it has succeeded. */
function run(
  cwd: string,
  [name, text]: [name: string, text: string],
  program: string,
  args: readonly string[],
): string {
  writeFileSync(join(cwd, name), text);
  const env = { ...process.env, DENO_DIR: join(directory.path, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  const { status, signal, stdout, stderr } = spawnSync(program, [...args, name], {
    cwd,
    env,
    encoding: "utf8",
    timeout: RUN_LIMIT_MS,
  });
  expect({ status, signal }, stdout + stderr).toEqual({ status: 0, signal: null });
  return stdout;
}

const printing = (text: string): string => `${text}\nexercise().then(console.log);\n`;

it("npm, ES module", () => {
  expect(run(project, ["main.mjs", printing(ES_MODULE)], NODE, [])).toBe(`${EXPECTED}\n`);
});

it("npm, CommonJS", () => {
  expect(run(project, ["main.cjs", printing(COMMON_JS)], NODE, [])).toBe(`${EXPECTED}\n`);
});

it("pnpm, ES module", { timeout: INSTALL_LIMIT_MS }, (context) => {
  const pnpm = toolPath("pnpm", context);
  const pnpmProject = createProject("pnpm");
  const args = ["add", "--save-dev", "--allow-build=classic-level", "--store-dir", PNPM_STORE, tarball, NEWER_SSZ];
  const { status, stdout, stderr } = spawnSync(pnpm, args, { cwd: pnpmProject, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  expect(run(pnpmProject, ["main.mjs", printing(ES_MODULE)], NODE, [])).toBe(`${EXPECTED}\n`);
});

it.for([
  ["nodenext", "consumer.mts", ["--module", "nodenext"]],
  ["bundler", "consumer.ts", ["--module", "esnext", "--moduleResolution", "bundler"]],
  ["node10", "consumer.ts", ["--module", "commonjs", "--moduleResolution", "node10"]],
] as const)("TypeScript, moduleResolution %s", ([, file, options], context) => {
  const compiler = toolPath("typescript", context);
  const strict = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"];
  expect(run(project, [file, CONSUMER], NODE, [compiler, ...strict, ...options])).toBe("");
});

it("vitest", () => {
  const text = `import { expect, it } from "vitest"; ${ES_MODULE}
    it("runs a chain", { timeout: 60000 }, async () => expect(await exercise()).toBe('${EXPECTED}'));`;
  const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
  expect(run(project, ["vitest.test.mjs", text], NODE, [vitest, "run"])).toContain("1 passed");
});

it("node --test", () => {
  const text = `import assert from "node:assert/strict"; import { it } from "node:test"; ${ES_MODULE}
    it("runs a chain", async () => assert.equal(await exercise(), '${EXPECTED}'));`;
  expect(run(project, ["node.test.mjs", text], NODE, ["--test"])).toContain("pass 1");
});

it("deno test", { timeout: INSTALL_LIMIT_MS }, (context) => {
  const deno = toolPath("deno", context);
  const text = `import assert from "node:assert/strict"; ${ES_MODULE}
    Deno.test("runs a chain", async () => assert.equal(await exercise(), '${EXPECTED}'));`;
  expect(run(project, ["deno.test.mjs", text], deno, ["test", "--allow-all", "--no-check"])).toContain("1 passed");
});

it("bun test", { timeout: INSTALL_LIMIT_MS }, (context) => {
  const bun = toolPath("bun", context);
  const text = `import { expect, it } from "bun:test"; ${ES_MODULE}
    it("runs a chain", async () => expect(await exercise()).toBe('${EXPECTED}'), 60000);`;
  run(project, ["bun.test.mjs", text], bun, ["test"]);
});
