// Programs of others that tests run with. Each is installed into a cache of its own, apart from the locked
// dependencies: they are large, and only interop tests need them.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

// npm puts the Node of the dependencies first on the path; what is too old for it gets the one that npm itself runs on.
export const machineNode = process.env.npm_node_execpath ?? process.execPath;

export function fail(sentence) {
  process.stderr.write(`fanal: ${sentence}\n`);
  process.exit(1);
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
 * Below this repository, npm would run install scripts with the Node of the dependencies, which native parts of others
 * may not build on. So they are built elsewhere and moved, which also leaves no half of an install behind.
 */
function install(cache, manifestText) {
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

/**
 * Returns the path of a program, and installs it first if it is missing or of another version. Exits if that fails.
 * @param {object} wanted
 * @param {string} wanted.title Name and version in messages.
 * @param {string} wanted.folder Name of its cache.
 * @param {string} wanted.size How much there is to install, in messages.
 * @param {{ name: string, dependencies: object, overrides?: object }} wanted.manifest For the cache's package.json.
 * @param {string[]} wanted.entry The program's file below the cache's node_modules.
 */
export function cachedPackage(wanted) {
  const { program, problem } = tryCachedPackage(wanted);
  if (problem !== undefined) fail(`${problem}.`);
  return program;
}

/** Does the same, but returns the problem if the install fails. */
export function tryCachedPackage({ title, folder, size, manifest: { name, ...packages }, entry }) {
  const cache = join(root, "node_modules", ".cache", folder);
  const program = join(cache, "node_modules", ...entry);
  const manifestText = `${JSON.stringify({ name, private: true, type: "module", ...packages }, null, 2)}\n`;
  const isInstalled = existsSync(program) && readFileSync(join(cache, "package.json"), "utf8") === manifestText;
  if (!isInstalled) {
    process.stderr.write(`fanal: installing ${title}, ${size}; this takes some minutes, once.\n`);
    const problem = install(cache, manifestText);
    if (problem !== undefined) return { problem: `${title} could not be installed: ${problem}` };
  }
  return { program };
}
