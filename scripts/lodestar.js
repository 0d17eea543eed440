// Lodestar, the beacon node and validator client of others that Fanal is tested with. It is installed into a cache of its own,
// apart from the locked dependencies: it is large, and nothing but interop tests and benchmarks needs it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownNode } from "../bin/own-node.js";

const VERSION = "1.5.1";
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const cache = join(modules, ".cache", `lodestar-${VERSION}`);
const lodestar = join(cache, "node_modules", "@chainsafe", "lodestar", "lib", "index.js");
const programNode = ownNode() ?? process.execPath;

// npm puts the Node of the dependencies first on the path; the client is older and gets the one that npm itself runs on.
const machineNode = process.env.npm_node_execpath ?? process.execPath;

/** The client asks for ranges of its own packages that later releases satisfy but do not fit, so each is held at its time. */
const manifest = {
  name: "fanal-interop-client",
  private: true,
  type: "module",
  dependencies: { "@chainsafe/lodestar": VERSION },
  overrides: {
    ...Object.fromEntries(
      [
        "api",
        "beacon-node",
        "config",
        "db",
        "fork-choice",
        "light-client",
        "params",
        "reqresp",
        "state-transition",
        "types",
        "utils",
        "validator",
      ].map((name) => [`@lodestar/${name}`, VERSION]),
    ),
    "@multiformats/multiaddr": "11.0.7",
    "@multiformats/mafmt": "11.0.3",
    mortice: "3.0.0",
  },
};
const manifestText = `${JSON.stringify(manifest, null, 2)}\n`;

function fail(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
  process.exit(1);
}

function isInstalled() {
  return existsSync(lodestar) && readFileSync(join(cache, "package.json"), "utf8") === manifestText;
}

function runNpmInstall(folder) {
  const npm = process.env.npm_execpath?.endsWith(".js")
    ? { file: machineNode, first: [process.env.npm_execpath], shell: false }
    : { file: "npm", first: [], shell: process.platform === "win32" };
  const path = (process.env.PATH ?? "").split(delimiter).filter((directory) => !directory.startsWith(root));
  const args = [...npm.first, "install", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = spawnSync(npm.file, args, {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(machineNode), ...path].join(delimiter) },
    shell: npm.shell,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (result.error) return `npm cannot be started: ${result.error.message}`;
  return result.status === 0 ? undefined : "what npm said is above";
}

/**
 * Below this repository, npm would run the install scripts with the Node of the dependencies, which the client's native parts
 * do not build on. So they are built elsewhere and moved, which also leaves no half of an install behind.
 */
function install() {
  process.stderr.write(`fanal: installing Lodestar ${VERSION}, about 1,000 packages; this takes some minutes, once.\n`);
  const folder = mkdtempSync(join(tmpdir(), "fanal-interop-"));
  try {
    writeFileSync(join(folder, "package.json"), manifestText);
    const problem = runNpmInstall(folder);
    if (problem !== undefined) return problem;
    // Copied beside its place first, since a rename works only within one file system.
    const copy = `${cache}.${process.pid}`;
    cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
    rmSync(cache, { recursive: true, force: true });
    renameSync(copy, cache);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a program on the Node of the dependencies, told where Lodestar is, which is installed first when it is not there. */
export function runWithLodestar(args) {
  if (!isInstalled()) {
    const problem = install();
    if (problem !== undefined) fail(`Lodestar ${VERSION} could not be installed: ${problem}.`);
  }
  const result = spawnSync(programNode, args, {
    cwd: root,
    env: { ...process.env, INTEROP_NODE: machineNode, INTEROP_LODESTAR: lodestar },
    stdio: "inherit",
  });
  if (result.error) fail(`${programNode} cannot be started: ${result.error.message}.`);
  process.exitCode = result.status ?? 1;
}
