import { spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenLinks } from "../support/broken-links.ts";
import { Program } from "../support/program.ts";
import { removableDirectory } from "../support/removable-directory.ts";
import { type InstalledPackage, installPackage, linkPackages, runNpm } from "./installed-package.ts";

/** Another one than that of the checkout can be tried: the package runs on every Node from 22 on. */
const NODE = process.env.FANAL_TEST_NODE ?? process.execPath;
const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const EXAMPLES = globSync("*.test.*", { cwd: join(CHECKOUT, "examples") });

const directory = removableDirectory();
let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage(directory.path);
});
afterAll(() => directory.remove());

/** Runs Node in the project. */
function node(...args: string[]) {
  return spawnSync(NODE, args, { cwd: installed.project, encoding: "utf8" });
}

/** Has a script believe that Node is of another version. */
const asNode = (version: string) =>
  `--import=data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });` +
      `Object.defineProperty(process, "version", { value: "v${version}" });`,
  )}`;

test("holds the compiled program, its documents and nothing of the checkout", () => {
  const files = globSync("**/*.*", { cwd: installed.root }).filter((file) => !/^(docs|examples|packaging)/.test(file));
  const isCode = /^(dist|bin)[/\\].*\.(js|js\.map|d\.ts)$/;
  const isOfPage = /^dist[/\\]web[/\\][^/\\]+\.(html|css|svg)$/;
  const others = files.filter((file) => !isCode.test(file) && !isOfPage.test(file));
  expect(others.toSorted()).toEqual(["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "package.json"]);
  // That one is for whoever has a checkout: the container is made of it.
  expect(brokenLinks(installed.root)).toEqual(["docs/operating.md links to Dockerfile"]);
  expect(files.filter((file) => /\.test|test-support/.test(file))).toEqual([]);
  const types = files.filter((file) => file.endsWith(".d.ts"));
  expect(types.every((file) => /^dist[/\\](client|library)[/\\]/.test(file))).toBe(true);
  const map = JSON.parse(readFileSync(join(installed.root, "dist", "cli", "main.js.map"), "utf8"));
  expect(map.sourcesContent[0]).toContain("export async function main(");
  for (const key of ["scripts", "devDependencies", "optionalDependencies", "private"]) {
    expect(installed.manifest).not.toHaveProperty(key);
  }
  const restored = readFileSync(join(installed.clone, "package.json"), "utf8");
  expect(restored).toBe(readFileSync(join(CHECKOUT, "package.json"), "utf8"));
});

test("is the program that npx runs", async () => {
  expect(await runNpm(["exec", "--offline", "--", "fanal", "-V"], installed.project)).toBe(
    `fanal ${installed.manifest.version}\n`,
  );
});

test("serves a dev chain", async () => {
  const dataDir = join(installed.project, "data");
  const bin = join(installed.root, "bin", "fanal.js");
  const program = await Program.dev(["--data-dir", dataDir, "--validators", "8", "--warmup-epochs", "1"], { bin });
  await program.untilLine(/The dev chain is running/);
  expect(Number((await program.call("getChainHead")).head_slot)).toBeGreaterThanOrEqual(8);
  expect(program.complaints).toEqual([]);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

/** A directory within the project finds the package there, and besides it what the example says is to be installed. */
function placeExample(name: string): string {
  const place = join(installed.project, "examples", name);
  cpSync(join(CHECKOUT, "examples", "support"), join(place, "support"), { recursive: true });
  cpSync(join(CHECKOUT, "examples", name), join(place, name));
  const [, packages] =
    /^\/\/ npm install --save-dev fanal\b *(.*)$/m.exec(readFileSync(join(place, name), "utf8")) ?? [];
  linkPackages(place, packages?.match(/\S+/g) ?? []);
  return `./examples/${name}/${name}`;
}

test("runs the examples", () => {
  // In one process, which loads the package once for all of them.
  const all = EXAMPLES.map((name) => `import "${placeExample(name)}";\n`);
  writeFileSync(join(installed.project, "examples.test.mjs"), all.join(""));
  const { status, stdout, stderr } = node("--test", "examples.test.mjs");
  expect(status, stdout + stderr).toBe(0);
  expect(Number(/ tests (\d+)/.exec(stdout)?.[1]), stdout).toBeGreaterThanOrEqual(EXAMPLES.length);
});

test("describes itself to a strict compiler", () => {
  writeFileSync(join(installed.project, "consumer.mts"), CONSUMER);
  const compiler = join(CHECKOUT, "node_modules", "typescript", "bin", "tsc");
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"];
  expect(node(compiler, ...options, "consumer.mts").stdout).toBe("");
});

const CONSUMER = `
import { createClient, type DevChain, startDevChain } from "fanal";
import { RpcError } from "fanal/client";

const chain: DevChain = await startDevChain({ validators: 64, fork: "deneb", rpc: 0, graffiti: "x", web: false });
const { finalized_epoch } = await chain.client.dev_advance({ until: "finalized" });
const epoch: string = finalized_epoch;
const client = createClient({ url: chain.url ?? "ws://127.0.0.1:9190", token: epoch });
const { root } = await client.get_v1_beacon_states_root({ state_id: "head" }, { signal: AbortSignal.timeout(1000) });
const [head, same] = await client.batch([["getChainHead"], ["get_v1_beacon_states_root", { state_id: root }]]);
if (!(head instanceof RpcError) && !(same instanceof RpcError)) console.log(head.head_slot, same.root.length);
await client.subscribe(["head", "finalized_checkpoint"], (event) => {
  if (event.topic === "head") console.log(event.data.epoch_transition, event.data.slot.length);
});
await chain.stop();
// @ts-expect-error: there is no such option.
await startDevChain({ validator: 64 });
// @ts-expect-error: the state is missing.
await client.get_v1_beacon_states_root({});
// @ts-expect-error: there is no such topic.
await client.subscribe(["heads"], () => {});
`;

test("says which Node it needs, to the shell and to a program", () => {
  const bin = join(installed.root, "bin", "fanal.js");
  const { status, stderr } = node(asNode("20.1.0"), bin, "--version");
  expect(stderr).toBe("fanal: Node 22 or newer is needed and this is v20.1.0.\n");
  expect(status).toBe(2);
  const script =
    'import { startDevChain } from "fanal"; await startDevChain().catch((error) => console.log(error.message));';
  expect(node(asNode("20.1.0"), "--input-type=module", "--eval", script).stdout).toBe(
    "fanal needs Node 22 or newer to run a chain, and this is v20.1.0.\n",
  );
});
